/** Explicit instantiations that leave their template arguments to be read off the parameters. */
import { describe, expect, it } from "vitest";
import { readSource, shown, tryRead } from "./workbench.ts";

const TEMPLATE = `#include <metal_stdlib>
template <int D> struct Shape { int size[D]; };
template <typename T, typename U, int N, int M = 2>
[[kernel, max_total_threads_per_threadgroup(32 * N)]] void spread(
    const device T *in [[buffer(0)]], device U *out [[buffer(1)]], const constant Shape<N> *shape [[buffer(2)]],
    uint i [[thread_position_in_grid]]) { out[i] = U(in[i] * shape->size[N - 1] * M); }
template <typename T, int N> kernel void hidden(device T *out [[buffer(0)]]) { out[0] = N; }
`;

const PARAMETERS = (input: string, output: string, count: number): string =>
  `const device ${input} *in [[buffer(0)]], device ${output} *out [[buffer(1)]], const constant Shape<${count}> *shape [[buffer(2)]], uint i [[thread_position_in_grid]]`;

describe("an instantiation without template arguments", () => {
  it("says by its parameters what they are", async () => {
    const text = `${TEMPLATE}
template [[host_name("a")]] [[kernel]] void spread(${PARAMETERS("half", "float", 3)});
template [[host_name("b")]] [[kernel]] void spread(${PARAMETERS("metal::vec<float, 4>", "unsigned int", 2)});
template [[host_name("c")]] [[kernel]] void spread<short, short, 1, 5>(${PARAMETERS("short", "short", 1)});`;
    const { reflection } = await readSource(text);
    const rows = reflection.functions.map((entry) => [
      entry.name,
      entry.expression,
      entry.arguments.map((argument) => argument.type),
      entry.maxTotalThreadsPerThreadgroup,
    ]);
    expect(rows).toEqual([
      ["a", "spread<half, float, 3>", ["half", "float", "Shape<3>"], 96],
      ["b", "spread<metal::vec<float, 4>, unsigned int, 2>", ["metal::vec<float, 4>", "unsigned int", "Shape<2>"], 64],
      ["c", "spread<short, short, 1, 5>", ["short", "short", "Shape<1>"], 32],
    ]);
  });

  it.each([
    ["an argument that no parameter shows", "hidden(device float *out [[buffer(0)]])"],
    ["another number of parameters", "spread(const device half *in [[buffer(0)]])"],
  ])("is refused with %s", async (_, declaration) => {
    const read = await tryRead(`${TEMPLATE}\ntemplate [[host_name("a")]] kernel void ${declaration};`);
    expect("diagnostics" in read && read.diagnostics.map(shown)[0]).toContain(
      "this explicit instantiation names no kernel template with its arguments: write `name<arguments>`",
    );
  });
});
