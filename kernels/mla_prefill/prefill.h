// Causal MLA prefill over a fragment policy: the loop, the staging, the masking and the online softmax.
//
// A threadgroup of four simdgroups owns 4 x SIDE query rows of one head and sequence; a simdgroup owns SIDE of them.
// Keys and values are walked in blocks of KV_ROWS rows, a block in sub-tiles of SIDE rows. One area of threadgroup
// memory holds, one after the other, KEY_CHUNK columns of the keys (nope, then rope) and VALUE_CHUNK columns of the
// values; rows behind the end of the sequence are zero. KEY_CHUNK divides NOPE_DIM + ROPE_DIM, VALUE_CHUNK divides
// VALUE_DIM. With QUERY_RESIDENT the query fragments stay in registers; else each chunk of them is staged again with
// the keys, behind them.
#ifndef LOCKSTEP_MLA_PREFILL_H
#define LOCKSTEP_MLA_PREFILL_H

#if !defined(KV_ROWS) || !defined(KEY_CHUNK) || !defined(VALUE_CHUNK) || !defined(QUERY_RESIDENT)
#error "KV_ROWS, KEY_CHUNK, VALUE_CHUNK and QUERY_RESIDENT must be defined by the host"
#endif

constant constexpr uint SIMDGROUPS = 4;
constant constexpr uint THREADS = SIMDGROUPS * 32;
constant constexpr uint KEY_DIM = NOPE_DIM + ROPE_DIM;
// 16 bytes behind each staged row keep eight rows of a fragment in different banks.
constant constexpr uint ROW_PADDING = 16 / sizeof(ELEMENT);
constant constexpr uint KEY_STRIDE = KEY_CHUNK + ROW_PADDING;
constant constexpr uint VALUE_STRIDE = VALUE_CHUNK + ROW_PADDING;

// Rows of a tensor for one head: the first row, and elements from row to row.
struct HeadRows {
  device const ELEMENT* first;
  ulong stride;
};

inline HeadRows head_rows(device const ELEMENT* tensor, int row, uint heads, uint head, uint dim) {
  HeadRows rows;
  rows.first = tensor + ((ulong)row * heads + head) * dim;
  rows.stride = (ulong)heads * dim;
  return rows;
}

// Stages columns [first_column, first_column + KEY_CHUNK) of [nope | rope] for `rows` rows from `first_row` on.
inline void stage_keys(
    threadgroup ELEMENT* stage,
    HeadRows nope,
    HeadRows rope,
    int first_row,
    int row_count,
    uint rows,
    uint first_column,
    uint thread_index) {
  for (uint i = thread_index; i < rows * (KEY_CHUNK / 4); i += THREADS) {
    const uint row = i / (KEY_CHUNK / 4);
    const uint column = i % (KEY_CHUNK / 4) * 4;
    const int source_row = first_row + int(row);
    const uint source_column = first_column + column;
    Quad x = Quad(ELEMENT(0.0f));
    if (source_row < row_count) {
      if (source_column < NOPE_DIM) {
        x = *(device const Quad*)(nope.first + (ulong)source_row * nope.stride + source_column);
      } else {
        x = *(device const Quad*)(rope.first + (ulong)source_row * rope.stride + (source_column - NOPE_DIM));
      }
    }
    *(threadgroup Quad*)(stage + row * KEY_STRIDE + column) = x;
  }
}

// Stages columns [first_column, first_column + VALUE_CHUNK) of KV_ROWS value rows from `first_row` on.
inline void stage_values(
    threadgroup ELEMENT* stage, HeadRows values, int first_row, int row_count, uint first_column, uint thread_index) {
  for (uint i = thread_index; i < KV_ROWS * (VALUE_CHUNK / 4); i += THREADS) {
    const uint row = i / (VALUE_CHUNK / 4);
    const uint column = i % (VALUE_CHUNK / 4) * 4;
    const int source_row = first_row + int(row);
    Quad x = Quad(ELEMENT(0.0f));
    if (source_row < row_count) {
      x = *(device const Quad*)(values.first + (ulong)source_row * values.stride + first_column + column);
    }
    *(threadgroup Quad*)(stage + row * VALUE_STRIDE + column) = x;
  }
}

template <typename Fragment>
inline void prefill(
    device const ELEMENT* q_nope,
    device const ELEMENT* q_rope,
    device const ELEMENT* k_nope,
    device const ELEMENT* k_rope,
    device const ELEMENT* v,
    Sequence sequence,
    device ELEMENT* out,
    device float* lse,
    constant PrefillParams& params,
    threadgroup ELEMENT* stage,
    uint block_index,
    uint head,
    uint thread_index,
    uint simdgroup,
    uint lane) {
  constexpr uint SIDE = Fragment::SIDE;
  constexpr uint CHUNK_FRAGMENTS = KEY_CHUNK / SIDE;
  constexpr uint VALUE_FRAGMENTS = VALUE_DIM / SIDE;
  constexpr uint SUB_TILES = KV_ROWS / SIDE;

  const int block_query = int(block_index * SIMDGROUPS * SIDE);
  if (block_query >= sequence.query_count) {
    return;
  }
  // Query rows of this simdgroup that exist, and keys that the last of them and of the whole threadgroup sees.
  const int first_query = block_query + int(simdgroup * SIDE);
  const int rows = clamp(sequence.query_count - first_query, 0, int(SIDE));
  const int simdgroup_keys = rows > 0 ? visible_keys(sequence, first_query + rows - 1) : 0;
  const int block_last = min(sequence.query_count, block_query + int(SIMDGROUPS * SIDE)) - 1;
  const int block_keys = visible_keys(sequence, block_last);

  const HeadRows query_nope = head_rows(q_nope, sequence.query_start, params.heads, head, NOPE_DIM);
  const HeadRows query_rope = head_rows(q_rope, sequence.query_start, params.heads, head, ROPE_DIM);
  const HeadRows key_nope = head_rows(k_nope, sequence.key_start, params.heads, head, NOPE_DIM);
  const HeadRows key_rope = head_rows(k_rope, sequence.key_start, 1, 0, ROPE_DIM);
  const HeadRows values = head_rows(v, sequence.key_start, params.heads, head, VALUE_DIM);

#if QUERY_RESIDENT
  typename Fragment::Operand query[KEY_DIM / SIDE];
  for (uint chunk = 0; chunk < KEY_DIM / KEY_CHUNK; ++chunk) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    stage_keys(stage, query_nope, query_rope, block_query, sequence.query_count, SIMDGROUPS * SIDE, chunk * KEY_CHUNK,
               thread_index);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = 0; i < CHUNK_FRAGMENTS; ++i) {
      Fragment::load(query[chunk * CHUNK_FRAGMENTS + i], stage + simdgroup * SIDE * KEY_STRIDE + i * SIDE, KEY_STRIDE);
    }
  }
#else
  threadgroup ELEMENT* query_stage = stage + KV_ROWS * KEY_STRIDE;
#endif

  typename Fragment::Accumulator output[VALUE_FRAGMENTS];
  for (uint i = 0; i < VALUE_FRAGMENTS; ++i) {
    Fragment::clear(output[i]);
  }
  const typename Fragment::RowCounts counts = Fragment::visible_counts(sequence, first_query, rows, lane);
  typename Fragment::RowVector maximum = Fragment::filled(-INFINITY);
  typename Fragment::RowVector sum = Fragment::filled(0.0f);

  for (int first_key = 0; first_key < block_keys; first_key += KV_ROWS) {
    // A simdgroup whose rows see nothing of this block still stages it and keeps the barriers.
    const bool sees = first_key < simdgroup_keys;

    typename Fragment::Accumulator score[SUB_TILES];
    for (uint j = 0; j < SUB_TILES; ++j) {
      Fragment::clear(score[j]);
    }
    for (uint chunk = 0; chunk < KEY_DIM / KEY_CHUNK; ++chunk) {
      threadgroup_barrier(mem_flags::mem_threadgroup);
      stage_keys(stage, key_nope, key_rope, first_key, sequence.key_count, KV_ROWS, chunk * KEY_CHUNK, thread_index);
#if !QUERY_RESIDENT
      stage_keys(query_stage, query_nope, query_rope, block_query, sequence.query_count, SIMDGROUPS * SIDE,
                 chunk * KEY_CHUNK, thread_index);
#endif
      threadgroup_barrier(mem_flags::mem_threadgroup);
      if (sees) {
        for (uint i = 0; i < CHUNK_FRAGMENTS; ++i) {
#if QUERY_RESIDENT
          thread typename Fragment::Operand& left = query[chunk * CHUNK_FRAGMENTS + i];
#else
          typename Fragment::Operand left;
          Fragment::load(left, query_stage + simdgroup * SIDE * KEY_STRIDE + i * SIDE, KEY_STRIDE);
#endif
          for (uint j = 0; j < SUB_TILES; ++j) {
            typename Fragment::Operand right;
            Fragment::load_transposed(right, stage + j * SIDE * KEY_STRIDE + i * SIDE, KEY_STRIDE);
            Fragment::multiply(score[j], left, right);
          }
        }
      }
    }

    if (sees) {
      typename Fragment::RowVector block_maximum = Fragment::filled(-INFINITY);
      for (uint j = 0; j < SUB_TILES; ++j) {
        block_maximum =
            max(block_maximum, Fragment::mask(score[j], params.scale, first_key + int(j * SIDE), counts, lane));
      }
      const typename Fragment::RowVector new_maximum = max(maximum, Fragment::row_max(block_maximum));
      const typename Fragment::RowVector base = Fragment::base_of(new_maximum);
      const typename Fragment::RowVector factor = exp(maximum - base);
      typename Fragment::RowVector block_sum = Fragment::filled(0.0f);
      for (uint j = 0; j < SUB_TILES; ++j) {
        block_sum += Fragment::weigh(score[j], base);
      }
      maximum = new_maximum;
      sum = sum * factor + Fragment::row_sum(block_sum);
      for (uint i = 0; i < VALUE_FRAGMENTS; ++i) {
        Fragment::rescale(output[i], factor);
      }
    }

    for (uint chunk = 0; chunk < VALUE_DIM / VALUE_CHUNK; ++chunk) {
      threadgroup_barrier(mem_flags::mem_threadgroup);
      stage_values(stage, values, first_key, sequence.key_count, chunk * VALUE_CHUNK, thread_index);
      threadgroup_barrier(mem_flags::mem_threadgroup);
      if (sees) {
        for (uint i = 0; i < VALUE_CHUNK / SIDE; ++i) {
          thread typename Fragment::Accumulator& held = output[chunk * (VALUE_CHUNK / SIDE) + i];
          for (uint j = 0; j < SUB_TILES; ++j) {
            typename Fragment::Operand right;
            Fragment::load(right, stage + j * SIDE * VALUE_STRIDE + i * SIDE, VALUE_STRIDE);
            Fragment::multiply_weights(held, score[j], right);
          }
        }
      }
    }
  }

  const ulong row = (ulong)(sequence.query_start + first_query) * params.heads + head;
  for (uint i = 0; i < VALUE_FRAGMENTS; ++i) {
    Fragment::store(output[i], sum, out + row * VALUE_DIM + i * SIDE, (ulong)params.heads * VALUE_DIM, rows, lane);
  }
  Fragment::store_rows(maximum + log(sum), lse + row, params.heads, rows, lane);
}

#endif
