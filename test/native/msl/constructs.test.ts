/** Constructs of MSL that C++ has not, or has otherwise, from the source to the result. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { EmulatedDevice } from "../../../native/emulator/device.ts";
import { type Elements, runKernel } from "../emulator/run_kernel.ts";
import { deviceError, testDevice } from "./workbench.ts";

let device: EmulatedDevice;

beforeAll(async () => {
  device = await testDevice();
});
afterAll(() => device.close());

/** Floats that one thread writes to `out`. `body` may be preceded by declarations, ended by `---`. */
async function floats(count: number, text: string, inputs: readonly Elements[] = []): Promise<number[]> {
  const [body = "", declarations = ""] = text.split("---").reverse();
  const types = ["ushort", "ulong4"].slice(0, inputs.length);
  const parameters = types.map((type, i) => `, device const ${type} *in${i + 1} [[buffer(${i + 1})]]`).join("");
  const source = `${declarations}
kernel void k(device float *out [[buffer(0)]]${parameters}) { ${body} }`;
  const bytes = await runKernel(device, { source, kernel: "k", threads: [1, 1, 1], inputs, outputBytes: 4 * count });
  return [...new Float32Array(bytes)];
}

describe("strings lie in constant memory", () => {
  it("in calls, initialisers, tables and conditions", async () => {
    const text = `
      struct Log { constant char *name; constexpr Log(constant char *a, constant char *b) constant : name(b) {} };
      constant Log report("first", "second");
      constant char *constant names[] = {"ab", "c" "d"};
      static_assert(sizeof(int) == 4, "int has four bytes");
      inline float letter(constant char *text, int i) { return text[i]; }
      inline constant char *pick(bool first) { return first ? "yes" : "no"; }
      ---
      constant char *local = "xyz";
      char copy[] = "pq";
      out[0] = report.name[1]; out[1] = names[1][1]; out[2] = letter("uvw", 2); out[3] = pick(false)[0];
      out[4] = local[0]; out[5] = copy[1];`;
    expect(await floats(6, text)).toEqual([..."edwnxq"].map((letter) => letter.charCodeAt(0)));
  });
});

describe("braces with fewer elements than the vector", () => {
  it("leave the others 0", async () => {
    const text = `
      inline uint4 key(uint a, uint b) { return {a, b, a ^ b}; }
      constant constexpr float4 TABLE = {1, 2};
      ---
      uint4 k = key(5, 3);
      int n = 2; half h = 0.5h;
      float4 mixed = {float(n), h, 7}; int2 one = {9}; half4 small = {h, 1.0f}; float4 joined = {float2(1, 2), 3, 4};
      out[0] = k.z + k.w; out[1] = TABLE.y + TABLE.z; out[2] = mixed.z + mixed.w; out[3] = one.x + one.y;
      out[4] = small.y + small.w; out[5] = joined.w;`;
    expect(await floats(6, text)).toEqual([6, 2, 7, 9, 1, 4]);
  });

  it("is not for parentheses", async () => {
    const error = await deviceError(floats(1, "float4 v = float4(1, 2, 3); out[0] = v.x;"));
    expect(error.diagnostics[0]?.message).toContain("no matching constructor for initialization of 'float4'");
  });
});

describe("swizzles under a unary operator in a template", () => {
  it("are values", async () => {
    const text = `
      template <typename V> V turned(V v) { return -v.yxwz + 2 * -v.wzyx - (~int4(v).xyzw, v * 0); }
      template <typename V> V turned_back(V v) { return (true) ? -v.zw.xyxy : +v; }
      ---
      float4 v = turned(float4(1, 2, 3, 4)); out[0] = v.x; out[1] = v.y;
      out[2] = turned_back(float4(1, 2, 3, 4)).w;`;
    expect(await floats(3, text)).toEqual([-10, -7, -4]);
  });
});

describe("vectors of 32 bytes in buffers", () => {
  it("are read and written at 16-byte alignment", async () => {
    // 3 x 16 bytes: the buffer ends at its guard page, so it starts 16 bytes off a multiple of 32.
    const words = new Uint32Array(12).map((_, i) => (i % 2 === 0 ? i / 2 : 0));
    const text = `
      struct Cell { uchar tag; ulong4 v; };
      static_assert(sizeof(Cell) == 64 && alignof(ulong4) == 32, "the layout stays");
      ---
      ulong4 v = in2[0] + 1; thread ulong4 copies[2] = {v, v * 2}; long3 w = long3(copies[1].yzw);
      out[0] = v.x; out[1] = w.z;`;
    expect(await floats(2, text, [new Uint16Array([1]), words])).toEqual([1, 8]);
  });
});

describe("half and bfloat", () => {
  it("are cast to each other in templates, by every spelling", async () => {
    const text = `
      template <typename T, typename U> T convert(U x) { T y = static_cast<T>(x); return y + T(x) - (T)x; }
      template <typename T> struct Wrapped { T value; operator bfloat() const { return static_cast<bfloat>(value); } };
      ---
      const half h = as_type<half>(in1[0]);
      const bfloat b = as_type<bfloat>(in1[1]);
      out[0] = convert<half>(b); out[1] = convert<bfloat>(h); out[2] = convert<float>(h);
      out[3] = float(bfloat(Wrapped<half>{h})) + (half)b * half(b);`;
    // 1.5 in half, 3 in bfloat.
    expect(await floats(4, text, [new Uint16Array([0x3e00, 0x4040])])).toEqual([3, 1.5, 1.5, 10.5]);
  });
});

describe("arithmetic that mixes half and bfloat", () => {
  it("is refused with what to do", async () => {
    const text = "half h = half(out[0]); bfloat b = bfloat(out[1]); out[2] = h * b;";
    const error = await deviceError(floats(3, text));
    expect(error.diagnostics.map((entry) => entry.message)).toEqual([
      "the compiler cannot build this kernel: arithmetic with one half and one bfloat operand has no type here: cast one of them",
    ]);
  });
});

describe("names of the library", () => {
  it("have array, assert and coherent", async () => {
    const text = `
      inline array<float, 2> divided(float a, float b) { return {floor(a / b), a - b * floor(a / b)}; }
      ---
      volatile coherent(device) device float *q = out;
      array<float, 2> parts = divided(7, 2);
      assert(parts.size() == 3);
      q[0] = parts[0]; q[1] = parts[1]; q[2] = parts.size();`;
    expect(await floats(3, text)).toEqual([3, 1, 2]);
  });

  it("leave overloads for the kernel's own types alone", async () => {
    const text = `
      struct Eight { float4 a, b; };
      struct HalfEight { half4 a, b; };
      inline Eight fma(HalfEight x, HalfEight y, Eight z) { return {float4(x.a) * float4(y.a) + z.a, z.b}; }
      inline Eight max(Eight x, Eight y) { return {max(x.a, y.a), max(x.b, y.b)}; }
      ---
      HalfEight h = {half4(2), half4(3)};
      Eight e = {float4(1), float4(5)};
      out[0] = fma(h, h, e).a.x; out[1] = max(e, fma(h, h, e)).b.y;`;
    expect(await floats(2, text)).toEqual([5, 5]);
  });
});
