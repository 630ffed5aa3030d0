/** Integer functions against a plain reference in wide arithmetic, bit by bit where that is the definition. */
import { describe, expect, it } from "vitest";
import { failedChecks } from "./language_program.ts";

/** Values at the edges of a type and a fixed sample between. */
const SAMPLE = `
  template <typename T> struct Sample {
    T values[40];
    int count = 0;
    Sample() {
      const T low = numeric_limits<T>::min(), high = numeric_limits<T>::max();
      const T edges[] = {T(0), T(1), T(2), T(3), T(-1), low, T(low + 1), high, T(high - 1), T(high / 2)};
      for (T edge : edges) values[count++] = edge;
      ulong state = 42;
      while (count < 40) {
        state = state * 6364136223846793005ul + 1442695040888963407ul;
        values[count++] = T(state >> 33 >> (count % 3 * 8));
      }
    }
  };
  template <typename T> __int128 limited(__int128 value) {
    const __int128 low = numeric_limits<T>::min(), high = numeric_limits<T>::max();
    return value < low ? low : value > high ? high : value;
  }
`;

/** Each row: the call under test and its definition, with \`a\`, \`b\`, \`c\` of type T and wide copies \`A\`, \`B\`, \`C\`. */
const DEFINITIONS: readonly (readonly [call: string, definition: string])[] = [
  ["addsat(a, b)", "T(limited<T>(A + B))"],
  ["subsat(a, b)", "T(limited<T>(A - B))"],
  ["hadd(a, b)", "T((A + B) >> 1)"],
  ["rhadd(a, b)", "T((A + B + 1) >> 1)"],
  ["madhi(a, b, c)", "T(high_product(a, b) + C)"],
  ["mulhi(a, b)", "T(high_product(a, b))"],
  ["min(a, b)", "a < b ? a : b"],
  ["max(a, b)", "a > b ? a : b"],
  ["min3(a, b, c)", "T(A < B ? (A < C ? A : C) : (B < C ? B : C))"],
  ["max3(a, b, c)", "T(A > B ? (A > C ? A : C) : (B > C ? B : C))"],
  ["median3(a, b, c)", "T(A + B + C - min3(a, b, c) - max3(a, b, c))"],
  ["clamp(a, min(b, c), max(b, c))", "T(A < min(b, c) ? min(b, c) : A > max(b, c) ? max(b, c) : a)"],
  ["absdiff(a, b)", "make_unsigned_t<T>(A > B ? A - B : B - A)"],
  ["abs(a)", "T(A < 0 ? -A : A)"],
  ["popcount(a)", "T(counted(a))"],
  ["clz(a)", "T(leading(a))"],
  ["ctz(a)", "T(trailing(a))"],
  ["reverse_bits(a)", "reversed(a)"],
  ["rotate(a, b)", "turned(a, b)"],
  ["extract_bits(a, 3u, 4u)", "T(numeric_limits<T>::is_signed && bit(a, 6) ? ((a >> 3) & 15) - 16 : (a >> 3) & 15)"],
  ["insert_bits(a, b, 2u, 3u)", "T((a & ~T(28)) | ((b & 7) << 2))"],
  ["extract_bits(a, 0u, uint(8 * sizeof(T)))", "a"],
  ["insert_bits(a, b, 0u, uint(8 * sizeof(T)))", "b"],
  ["extract_bits(a, 1u, 0u)", "T(0)"],
  ["select(a, b, a < b)", "a < b ? b : a"],
];

const REFERENCE = `
  template <typename T> bool bit(T a, int i) { return (ulong(a) >> i) & 1; }
  template <typename T> int counted(T a) { int n = 0; for (int i = 0; i < int(8 * sizeof(T)); ++i) n += bit(a, i); return n; }
  template <typename T> int leading(T a) { int n = 8 * sizeof(T); while (n > 0 && !bit(a, n - 1)) --n; return 8 * sizeof(T) - n; }
  template <typename T> int trailing(T a) { int n = 0; while (n < int(8 * sizeof(T)) && !bit(a, n)) ++n; return n; }
  template <typename T> T reversed(T a) {
    ulong r = 0;
    for (int i = 0; i < int(8 * sizeof(T)); ++i) r |= ulong(bit(a, i)) << (8 * sizeof(T) - 1 - i);
    return T(r);
  }
  template <typename T> T turned(T a, T by) {
    const int width = 8 * sizeof(T);
    ulong r = 0;
    for (int i = 0; i < width; ++i) r |= ulong(bit(a, i)) << ((i + (ulong(by) & (width - 1))) % width);
    return T(r);
  }
  template <typename T> __int128 high_product(T a, T b) {
    const int width = 8 * sizeof(T);
    if (width < 64 || numeric_limits<T>::is_signed) return (__int128(a) * __int128(b)) >> width;
    return __int128((unsigned __int128)(a) * (unsigned __int128)(b) >> 64);
  }
`;

function program(definitions: readonly (readonly [string, string])[]): string {
  const lines = definitions.map(([call, definition]) => `      CHECK(${call} == (${definition}));`);
  return `${SAMPLE}${REFERENCE}
    template <typename T> void all_pairs() {
      const Sample<T> sample;
      for (int i = 0; i < 40; ++i) for (int j = 0; j < 40; ++j) {
        const T a = sample.values[i], b = sample.values[j], c = sample.values[(i * 7 + j) % 40];
        const __int128 A = a, B = b, C = c;
        (void)C;
        if (failures > 20) return;
  ${lines.join("\n")}
      }
    }
    void program() {
      all_pairs<char>(); all_pairs<uchar>(); all_pairs<short>(); all_pairs<ushort>();
      all_pairs<int>(); all_pairs<uint>(); all_pairs<long>(); all_pairs<ulong>();
    }`;
}

describe("integer functions", () => {
  it("match their definitions for every integer type", async () => {
    expect(await failedChecks(program(DEFINITIONS))).toEqual([]);
  });

  it("would not match a wrong definition", async () => {
    expect(await failedChecks(program([["rhadd(a, b)", "T((A + B) >> 1)"]]))).not.toEqual([]);
  });

  it("saturate a product and sum, work on 24 bits and on vectors", async () => {
    const failed = await failedChecks(`
      void program() {
        CHECK(madsat(100000, 100000, 1) == INT_MAX && madsat(-100000, 100000, 1) == INT_MIN && madsat(6, 7, -2) == 40);
        CHECK(madsat(uchar(20), uchar(20), uchar(1)) == 255 && madsat(short(300), short(-300), short(0)) == -32768);
        CHECK(madsat(65536, 32768, -1) == INT_MAX && madsat(1ul << 63, 2ul, 0ul) == ULONG_MAX && madsat(LONG_MIN, 2l, 5l) == LONG_MIN);
        CHECK(mul24(0x01000003, 5) == 15 && mul24(-3, 7) == -21 && mad24(0xffffffu, 2u, 1u) == 0x1ffffffu);
        CHECK(all(popcount(uint4(0, 1, 3, 0xffffffffu)) == uint4(0, 1, 2, 32)));
        CHECK(all(clz(ushort2(1, 0x8000)) == ushort2(15, 0)) && all(min(int3(1, 5, 9), 5) == int3(1, 5, 5)));
        CHECK(all(absdiff(int2(INT_MIN, 3), int2(INT_MAX, 5)) == uint2(UINT_MAX, 2)));
        CHECK(all(extract_bits(uint2(0xabcd, 0x1234), 4u, 8u) == uint2(0xbc, 0x23)));
        CHECK(all(addsat(uchar4(250, 1, 2, 3), uchar4(10)) == uchar4(255, 11, 12, 13)));
      }`);
    expect(failed).toEqual([]);
  });
});
