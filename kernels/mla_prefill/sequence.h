// What every prefill kernel shares: parameters, the bounds of a sequence, and the guard for rows without a visible key.
// ELEMENT (float, half or bfloat), NOPE_DIM, ROPE_DIM and VALUE_DIM (multiples of 16) are preprocessor macros set by
// the route's table.
//
// Layouts: q_nope [Tq, head, NOPE_DIM], q_rope [Tq, head, ROPE_DIM], k_nope [Tk, head, NOPE_DIM], k_rope [Tk, ROPE_DIM]
// (one row for all heads), v [Tk, head, VALUE_DIM], out [Tq, head, VALUE_DIM] in ELEMENT, lse [Tq, head] in float.
#ifndef LOCKSTEP_MLA_SEQUENCE_H
#define LOCKSTEP_MLA_SEQUENCE_H

#if !defined(ELEMENT) || !defined(NOPE_DIM) || !defined(ROPE_DIM) || !defined(VALUE_DIM)
#error "ELEMENT, NOPE_DIM, ROPE_DIM and VALUE_DIM must be defined by the host"
#endif

struct PrefillParams {
  uint heads;
  uint score_stride;   // floats per score row; naive route only
  float scale;
};

typedef vec<ELEMENT, 4> Quad;

// The rows of one sequence of the ragged batch. Query i stands at position q_offset + i and sees keys 0 to that one.
struct Sequence {
  int query_start;
  int query_count;
  int key_start;
  int key_count;
  int offset;
};

inline Sequence sequence_at(
    device const int* cu_seqlens_q,
    device const int* cu_seqlens_k,
    device const int* q_offset,
    uint index) {
  Sequence sequence;
  sequence.query_start = cu_seqlens_q[index];
  sequence.query_count = cu_seqlens_q[index + 1] - sequence.query_start;
  sequence.key_start = cu_seqlens_k[index];
  sequence.key_count = cu_seqlens_k[index + 1] - sequence.key_start;
  sequence.offset = q_offset[index];
  return sequence;
}

// Keys that query `index` of the sequence sees: the causal prefix, cut at the sequence's end. Not negative.
inline int visible_keys(Sequence sequence, int index) {
  return clamp(sequence.offset + index + 1, 0, sequence.key_count);
}

// What to subtract before exp. With no finite score yet, -inf - -inf would be NaN; with 0 every weight is exp(-inf) = 0.
inline float softmax_base(float maximum) {
  return maximum == -INFINITY ? 0.0f : maximum;
}

#endif
