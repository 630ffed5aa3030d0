// NaN and infinities: where they come from, and where they are meant.
#include <metal_stdlib>
using namespace metal;

// case: fully_masked_row
// why: All scores are -inf, their maximum too, and -inf - -inf is NaN.
// from: ml-explore/mlx#2608, pytorch/pytorch#156707
// run: masked_softmax threads 32
// buffer: out float 32 output
// buffer: scores float 32 -inf
// must: error nan_created A arithmetic, B collective times 32

// case: partly_masked_row
// why: The same kernel with every second score masked: exp(-inf) is 0 and no NaN comes of it.
// run: masked_softmax threads 32
// buffer: out float 32 output
// buffer: scores float 32 1,-inf
// silent:
kernel void masked_softmax(device float *out, device const float *scores, uint lane [[thread_index_in_simdgroup]]) {
  const float score = scores[lane];
  const float most = simd_max(score);
  const float difference = score - most; // A
  const float weight = exp(difference);
  const float sum = simd_sum(weight); // B
  out[lane] = weight / sum;
}

// case: masked_by_lowest_finite_number
// why: Masks of the lowest finite number: a fully masked row is the mean, and no infinity is there.
// from: ml-explore/mlx#2608
// run: finite_mask threads 32
// buffer: out float 32 output
// buffer: scores float 32 -3e38
// silent:
kernel void finite_mask(device float *out, device const float *scores, uint lane [[thread_index_in_simdgroup]]) {
  const float score = scores[lane];
  const float weight = exp(score - simd_max(score));
  out[lane] = weight / simd_sum(weight);
}

// case: zero_times_infinity
// why: A rescale factor of 0 meets an accumulator that has overflowed.
// run: zero_times_infinity threads 32
// buffer: out float 32 output
// buffer: factor float 32 0
// buffer: sum float 32 inf
// must: error nan_created A arithmetic, B write of out at 0 size 4 times 32
kernel void zero_times_infinity(device float *out, device const float *factor, device const float *sum,
                                uint i [[thread_position_in_grid]]) {
  const float product = factor[i] * sum[i]; // A
  out[i] = product; // B
}

// case: zero_over_zero
// why: A row without tokens has weight 0 and is divided by its sum, 0.
// run: zero_over_zero threads 32
// buffer: out float 32 output
// buffer: sum float 32 0
// must: error nan_created A arithmetic, B write of out at 0 size 4 times 32
kernel void zero_over_zero(device float *out, device const float *sum, uint i [[thread_position_in_grid]]) {
  const float weight = sum[i] / sum[i]; // A
  out[i] = weight; // B
}

// case: zero_sum_guarded
// why: The same with its guard.
// run: zero_sum_guarded threads 32
// buffer: out float 32 output
// buffer: sum float 32 0
// silent:
kernel void zero_sum_guarded(device float *out, device const float *sum, uint i [[thread_position_in_grid]]) {
  float weight = 0;
  if (sum[i] != 0) weight = 1 / sum[i];
  out[i] = weight;
}

// case: division_by_zero
// why: The reciprocal of an empty sum is an infinity.
// run: division_by_zero threads 32
// buffer: out float 32 output
// buffer: sum float 32 0
// must: warning infinity_created A arithmetic, B write of out at 0 size 4 times 32
kernel void division_by_zero(device float *out, device const float *sum, uint i [[thread_position_in_grid]]) {
  const float weight = 1 / sum[i]; // A
  out[i] = weight; // B
}

// case: root_of_a_negative_number
// why: A variance as mean of squares minus square of the mean comes out negative by rounding.
// run: root_of_a_negative_number threads 32
// buffer: out float 32 output
// buffer: variance float 32 -0.000001
// must: error nan_created A arithmetic, B write of out at 0 size 4 times 32
kernel void root_of_a_negative_number(device float *out, device const float *variance, uint i [[thread_position_in_grid]]) {
  const float deviation = sqrt(variance[i]); // A
  out[i] = deviation; // B
}

// case: logarithm_of_a_negative_number
// why: A log-sum-exp of a sum that has lost its sign.
// run: logarithm_of_a_negative_number threads 32
// buffer: out float 32 output
// buffer: sum float 32 -1
// must: error nan_created A arithmetic, B write of out at 0 size 4 times 32
kernel void logarithm_of_a_negative_number(device float *out, device const float *sum, uint i [[thread_position_in_grid]]) {
  const float lse = log(sum[i]); // A
  out[i] = lse; // B
}

// case: float_sum_overflows
// why: Products of large keys and queries leave the range of float.
// run: float_sum_overflows threads 32
// buffer: out float 32 output
// buffer: in float 32 3e38
// must: warning infinity_created A arithmetic, B write of out at 0 size 4 times 32
kernel void float_sum_overflows(device float *out, device const float *in, uint i [[thread_position_in_grid]]) {
  const float product = in[i] * in[i]; // A
  out[i] = product; // B
}

// case: half_numerator_overflows
// why: The numerator of a softmax is kept in half without normalisation: 1,100 tokens of 65 are more than 65,504.
// run: half_numerator_overflows threads 32
// buffer: out half 32 output
// buffer: v half 32 65
// must: warning infinity_created A arithmetic, B write of out at 0 size 2 times 32
kernel void half_numerator_overflows(device half *out, device const half *v, uint i [[thread_position_in_grid]]) {
  half sum = 0;
#pragma clang loop unroll(disable)
  for (uint token = 0; token < 1100; ++token) {
    sum += v[i]; // A
  }
  out[i] = sum; // B
}

// case: numerator_in_float
// why: The same sum in float, normalised before it is stored as half.
// run: numerator_in_float threads 32
// buffer: out half 32 output
// buffer: v half 32 65
// silent:
kernel void numerator_in_float(device half *out, device const half *v, uint i [[thread_position_in_grid]]) {
  float sum = 0;
  for (uint token = 0; token < 1100; ++token) sum += v[i];
  out[i] = half(sum / 1100);
}

// case: float_to_half_overflows
// why: A float accumulator of 71,500 is stored as half.
// run: float_to_half_overflows threads 32
// buffer: out half 32 output
// buffer: sum float 32 71500
// must: warning infinity_created A arithmetic, B write of out at 0 size 2 times 32
kernel void float_to_half_overflows(device half *out, device const float *sum, uint i [[thread_position_in_grid]]) {
  const half narrow = half(sum[i]); // A
  out[i] = narrow; // B
}

// case: exponential_overflows
// why: Softmax without its maximum: exp(89) is more than the largest float.
// run: exponential_overflows threads 32
// buffer: out float 32 output
// buffer: scores float 32 89
// must: warning infinity_created A arithmetic, B write of out at 0 size 4 times 32
kernel void exponential_overflows(device float *out, device const float *scores, uint i [[thread_position_in_grid]]) {
  const float weight = exp(scores[i]); // A
  out[i] = weight; // B
}

// case: online_softmax
// why: Running maximum that starts at -inf, rescaled per block: exp(-inf) is 0, and nothing else is infinite. The usual
//   form must be silent.
// run: online_softmax threads 32
// buffer: out float 32 output
// buffer: scores float 128 1,-2,3,0.5
// buffer: v float 128 ramp
// silent:
kernel void online_softmax(device float *out, device const float *scores, device const float *v,
                           uint lane [[thread_index_in_simdgroup]]) {
  float most = -INFINITY;
  float sum = 0;
  float numerator = 0;
  for (uint block = 0; block < 4; ++block) {
    const float score = scores[block * 32 + lane];
    const float now = max(most, simd_max(score));
    const float rescale = exp(most - now);
    const float weight = exp(score - now);
    sum = sum * rescale + simd_sum(weight);
    numerator = numerator * rescale + simd_sum(weight * v[block * 32 + lane]);
    most = now;
  }
  out[lane] = numerator / sum;
}

// case: online_softmax_with_first_block_masked
// why: The first block is masked as a whole: the running maximum stays -inf, and exp(-inf - -inf) is NaN from there on.
//   The first of the two that make one is named, and the sum that takes the other.
// from: ml-explore/mlx#2406, ml-explore/mlx#2029
// run: online_softmax_masked threads 32
// buffer: out float 32 output
// buffer: scores float 64 1
// must: error nan_created A arithmetic, B collective times 32
kernel void online_softmax_masked(device float *out, device const float *scores, uint lane [[thread_index_in_simdgroup]]) {
  float most = -INFINITY;
  float sum = 0;
#pragma clang loop unroll(disable)
  for (uint block = 0; block < 2; ++block) {
    const float score = block == 0 ? -INFINITY : scores[block * 32 + lane];
    const float now = max(most, simd_max(score));
    const float rescale = exp(most - now); // A
    const float weight = exp(score - now);
    sum = sum * rescale + simd_sum(weight); // B
    most = now;
  }
  out[lane] = sum;
}

// case: nan_that_is_not_used
// why: The NaN of a masked lane is replaced before it is stored: no report, since nothing comes of it.
// run: nan_that_is_not_used threads 32
// buffer: out float 32 output
// buffer: in float 32 0
// silent:
kernel void nan_that_is_not_used(device float *out, device const float *in, uint i [[thread_position_in_grid]]) {
  const float ratio = in[i] / in[i];
  out[i] = in[i] == 0 ? 0 : ratio;
}

// case: nan_of_the_host
// why: A NaN that came with the input was not created here.
// run: nan_of_the_host threads 32
// buffer: out float 32 output
// buffer: bits uint 32 2143289344
// silent:
kernel void nan_of_the_host(device float *out, device const uint *bits, uint i [[thread_position_in_grid]]) {
  out[i] = as_type<float>(bits[i]) + 1;
}

// case: infinity_of_the_host
// why: A mask of -inf is read, added and stored as score: an infinity that was there before is not created.
// run: infinity_of_the_host threads 32
// buffer: out float 32 output
// buffer: mask float 32 -inf,0
// silent:
kernel void infinity_of_the_host(device float *out, device const float *mask, uint i [[thread_position_in_grid]]) {
  out[i] = mask[i] + 1;
}
