// gqa_fused_partial of kernels/gqa_decode/fused_split_kv.metal in OpenCL C 1.2, for comparing checkers on one shape.
// The same threadgroups, staged tile and online softmax. OpenCL 1.2 knows no simdgroup: the sum over 32 lanes is a
// butterfly through local memory, with a barrier of the whole work-group at each of its five steps.

#define HEAD_DIM 512
#define HEADS_PER_KV 8
#define TILE 4
#define SIMD_WIDTH 32
#define THREADS (SIMD_WIDTH * HEADS_PER_KV)
#define ROW_QUADS (HEAD_DIM / 4)
#define LANE_QUADS (ROW_QUADS / SIMD_WIDTH)

// Sum of x over the 32 work-items of a row, the same for all of them. Two halves of `slots` take turns, so that one
// barrier lies between a write and its reads, and one between a read and the next write of the same half.
float4 row_sum(float4 x, local float4 *slots, uint index) {
  uint half_of_slots = 0;
  for (uint mask = 1; mask < SIMD_WIDTH; mask *= 2) {
    local float4 *own = slots + half_of_slots * THREADS;
    own[index] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    x += own[index ^ mask];
    half_of_slots ^= 1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return x;
}

float max_of(float4 x) { return fmax(fmax(x.x, x.y), fmax(x.z, x.w)); }

// Not as a sum of components: clang makes shuffles with undefined elements of that, at which Oclgrind 21.10 with
// --uninitialized ends by a segmentation fault.
float sum_of(float4 x) { return dot(x, (float4)(1.0f)); }

uint partition_start(uint live, uint partitions, uint index) {
  const uint tokens = (live + partitions - 1) / partitions;
  return min(live, index * tokens);
}

// A work-group of 256 per (KV head, partition).
kernel __attribute__((reqd_work_group_size(THREADS, 1, 1))) void gqa_fused_partial(
    global const float4 *query, global const float4 *keys, global const float4 *values,
    global float *maxima,        // [partition, head]
    global float *sums,          // [partition, head]
    global float4 *numerators,   // [partition, head, HEAD_DIM], not normalised
    const uint heads, const uint kv_heads, const uint live, const uint partitions, const float scale) {
  local float4 tile_keys[TILE * ROW_QUADS];
  local float4 tile_values[TILE * ROW_QUADS];
  local float4 slots[2 * THREADS];
  const uint thread_index = get_local_id(0);
  const uint row_of_group = thread_index / SIMD_WIDTH;
  const uint lane = thread_index % SIMD_WIDTH;
  const uint kv_head = get_group_id(0);
  const uint partition = get_group_id(1);
  const uint head = kv_head * HEADS_PER_KV + row_of_group;
  const uint begin = partition_start(live, partitions, partition);
  const uint end = partition_start(live, partitions, partition + 1);

  float4 mine[LANE_QUADS];
  float4 numerator[LANE_QUADS];
  for (uint i = 0; i < LANE_QUADS; ++i) {
    mine[i] = query[head * ROW_QUADS + i * SIMD_WIDTH + lane];
    numerator[i] = (float4)(0.0f);
  }
  float maximum = -INFINITY;
  float sum = 0.0f;

  for (uint token = begin; token < end; token += TILE) {
    const uint count = min((uint)TILE, end - token);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = thread_index; i < TILE * ROW_QUADS; i += THREADS) {
      const uint row = i / ROW_QUADS;
      float4 key = (float4)(0.0f);
      float4 value = (float4)(0.0f);
      if (row < count) {
        const ulong source = ((ulong)(token + row) * kv_heads + kv_head) * ROW_QUADS + i % ROW_QUADS;
        key = keys[source];
        value = values[source];
      }
      tile_keys[i] = key;
      tile_values[i] = value;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    float4 score = (float4)(0.0f);
    for (uint i = 0; i < LANE_QUADS; ++i) {
      const uint quad = i * SIMD_WIDTH + lane;
      score += (float4)(dot(mine[i], tile_keys[quad]), dot(mine[i], tile_keys[ROW_QUADS + quad]),
                        dot(mine[i], tile_keys[2 * ROW_QUADS + quad]), dot(mine[i], tile_keys[3 * ROW_QUADS + quad]));
    }
    score = row_sum(score, slots, thread_index) * scale;
    score = select((float4)(-INFINITY), score, (uint4)(0, 1, 2, 3) < (uint4)(count));

    const float new_maximum = fmax(maximum, max_of(score));
    const float base = new_maximum == -INFINITY ? 0.0f : new_maximum;
    const float rescale = exp(maximum - base);
    const float4 weight = exp(score - (float4)(base));
    maximum = new_maximum;
    sum = sum * rescale + sum_of(weight);
    for (uint i = 0; i < LANE_QUADS; ++i) {
      const uint quad = i * SIMD_WIDTH + lane;
      float4 x = numerator[i] * rescale;
      x += weight.x * tile_values[quad];
      x += weight.y * tile_values[ROW_QUADS + quad];
      x += weight.z * tile_values[2 * ROW_QUADS + quad];
      x += weight.w * tile_values[3 * ROW_QUADS + quad];
      numerator[i] = x;
    }
  }

  const uint state = partition * heads + head;
  for (uint i = 0; i < LANE_QUADS; ++i) {
    numerators[state * ROW_QUADS + i * SIMD_WIDTH + lane] = numerator[i];
  }
  if (lane == 0) {
    maxima[state] = maximum;
    sums[state] = sum;
  }
}
