/** What the emulated device does not have, refused by name and position before anything is compiled. */
import type { Diagnostic } from "../device.ts";
import { KERNEL_BUILTINS } from "./builtins.ts";
import type { Declarations } from "./declarations.ts";
import type { Syntax } from "./syntax.ts";

interface UnsupportedConstruct {
  /** What it is called in messages. */
  readonly construct: string;
  /** MSL section, or where the construct is known from. */
  readonly section: string;
  /** Identifiers that mean this construct wherever they stand. */
  readonly names?: readonly string[];
  /** Type names that mean it only in front of a template argument list or a declared name. */
  readonly types?: readonly string[];
  /** Function names that mean it only where they are called and the source does not declare them. */
  readonly functions?: readonly string[];
  /** Names inside `[[ ]]`. */
  readonly attributes?: readonly string[];
  /** Namespaces: any name behind them means it. */
  readonly namespaces?: readonly string[];
  /** Headers that only this construct needs, by the start of their name. */
  readonly headers?: readonly string[];
}

/** Attributes of kernel parameters on something that is no parameter: a variable or a member. */
const PROGRAM_SCOPE: UnsupportedConstruct = {
  construct: "built-in variables and bindings at program scope",
  section: "MSL 5.9",
};

/** Sections are those of version 4 of the specification (2025-10-23). */
export const UNSUPPORTED: readonly UnsupportedConstruct[] = [
  {
    construct: "textures and samplers",
    section: "MSL 2.9, 2.10, 6.12",
    types: [
      ...["1d", "1d_array", "2d", "2d_array", "3d", "cube", "cube_array", "2d_ms", "2d_ms_array", "_buffer"].map(
        (shape) => `texture${shape}`,
      ),
      ...["2d", "2d_array", "cube", "cube_array", "2d_ms", "2d_ms_array"].map((shape) => `depth${shape}`),
      "sampler",
    ],
    attributes: ["texture", "sampler"],
    headers: ["metal_texture", "metal_sampler"],
  },
  {
    construct: "ray tracing",
    section: "MSL 2.17, 6.18",
    names: [
      "acceleration_structure",
      "instance_acceleration_structure",
      "primitive_acceleration_structure",
      "intersection_function_buffer_arguments",
      "ray_data",
    ],
    types: ["intersector", "intersection_query", "intersection_function_table", "intersection_result"],
    attributes: ["intersection"],
    namespaces: ["raytracing"],
    headers: ["metal_raytracing"],
  },
  {
    construct: "imageblocks",
    section: "MSL 2.11, 5.6, 6.13",
    names: ["threadgroup_imageblock", "imageblock_slice"],
    types: ["imageblock"],
    attributes: ["imageblock_data", "alias_implicit_imageblock", "alias_implicit_imageblock_color"],
    headers: ["metal_imageblocks"],
  },
  {
    construct: "pixel data types",
    section: "MSL 2.7",
    types: [
      ...["r8", "r16", "rg8", "rg16", "rgba8", "rgba16"].flatMap((base) => [`${base}unorm`, `${base}snorm`]),
      ...["srgba8unorm", "rgb10a2", "rg11b10f", "rgb9e5"],
    ],
  },
  {
    construct: "visible functions",
    section: "MSL 2.15, 2.16, 5.1.4, 5.1.5",
    types: ["visible_function_table"],
    attributes: ["visible", "stitchable", "function_groups"],
    headers: ["metal_visible_function_table"],
  },
  {
    construct: "mesh and object functions",
    section: "MSL 2.20, 5.1.7, 5.1.8",
    names: ["object_data", "mesh_grid_properties"],
    types: ["mesh"],
    attributes: ["object", "mesh", "payload"],
    headers: ["metal_mesh"],
  },
  {
    construct: "functions of the graphics stages",
    section: "MSL 6.10, 6.11, 6.17",
    names: ["rasterization_rate_map_decoder", "rasterization_rate_map_data"],
    types: ["interpolant", "patch_control_point"],
    functions: ["dfdx", "dfdy", "fwidth", "discard_fragment", "get_num_samples", "get_sample_position"],
    headers: ["metal_graphics", "metal_interpolate"],
  },
  {
    construct: "inline assembly",
    section: "not in MSL; Apple's compiler refuses it too",
    names: ["__asm", "__asm__", "asm"],
  },
  {
    construct: "MetalPerformancePrimitives and tensors",
    section: "MSL 2.21, 7",
    types: ["tensor", "cooperative_tensor"],
    namespaces: ["mpp", "tensor_ops"],
    headers: ["MetalPerformancePrimitives/", "metal_tensor", "metal_cooperative_tensor"],
  },
  {
    construct: "asynchronous simdgroup copies",
    section: "not in MSL; Apple's compiler refuses them too",
    names: [
      "simdgroup_async_copy",
      "simdgroup_event",
      "__metal_simdgroup_async_copy_1d",
      "__metal_simdgroup_async_copy_2d",
    ],
  },
  {
    construct: "indirect command buffers",
    section: "MSL 6.16",
    names: ["command_buffer", "compute_command", "render_command"],
    headers: ["metal_command_buffer"],
  },
  PROGRAM_SCOPE,
  { construct: "stage inputs", section: "MSL 5.2.4", attributes: ["stage_in"] },
  { construct: "argument buffers", section: "MSL 2.13", attributes: ["id"] },
];

const MEND = "the emulated device has none of it: leave it out, or run this source on a Mac";

function refusal(construct: UnsupportedConstruct, name: string): string {
  return `'${name}': ${construct.construct} (${construct.section}) are not supported; ${MEND}`;
}

interface Lookup {
  readonly names: ReadonlyMap<string, UnsupportedConstruct>;
  readonly types: ReadonlyMap<string, UnsupportedConstruct>;
  readonly functions: ReadonlyMap<string, UnsupportedConstruct>;
  readonly attributes: ReadonlyMap<string, UnsupportedConstruct>;
  readonly namespaces: ReadonlyMap<string, UnsupportedConstruct>;
}

const LOOKUP: Lookup = {
  names: index((entry) => entry.names),
  types: index((entry) => entry.types),
  functions: index((entry) => entry.functions),
  attributes: index((entry) => entry.attributes),
  namespaces: index((entry) => entry.namespaces),
};

function index(
  select: (entry: UnsupportedConstruct) => readonly string[] | undefined,
): ReadonlyMap<string, UnsupportedConstruct> {
  return new Map(UNSUPPORTED.flatMap((entry) => (select(entry) ?? []).map((name) => [name, entry] as const)));
}

/** One error for each unsupported construct, at its first use. */
export function findUnsupported(syntax: Syntax, declarations: Declarations): Diagnostic[] {
  const found = new Map<UnsupportedConstruct, Diagnostic>();
  const declared = declaredTypes(syntax);
  const functions = declaredFunctions(syntax);
  const report = (entry: UnsupportedConstruct | undefined, at: number, name: string): void => {
    if (entry && !found.has(entry) && !declared.has(name))
      found.set(entry, syntax.diagnostic(at, refusal(entry, name)));
  };
  let parentheses = 0;
  for (let i = 0; i < syntax.tokens.length; i += 1) {
    if (syntax.text(i) === "(") parentheses += 1;
    else if (syntax.text(i) === ")") parentheses -= 1;
    if (syntax.startsAttributes(i)) {
      for (const attribute of syntax.attributes(i)) {
        const isParameter = KERNEL_BUILTINS.has(attribute.name) || /^(?:buffer|threadgroup)$/.test(attribute.name);
        if (isParameter && parentheses === 0) report(PROGRAM_SCOPE, attribute.start, attribute.name);
        report(LOOKUP.attributes.get(attribute.name), attribute.start, attribute.name);
      }
      i += 1;
      continue;
    }
    if (!syntax.isIdentifier(i)) continue;
    const text = syntax.text(i);
    report(LOOKUP.names.get(text), i, text);
    if (syntax.text(i + 1) === "::") report(LOOKUP.namespaces.get(text), i, text);
    if (LOOKUP.types.has(text) && isTypeUse(syntax, i)) report(LOOKUP.types.get(text), i, text);
    if (LOOKUP.functions.has(text) && isCall(syntax, i) && !functions.has(text))
      report(LOOKUP.functions.get(text), i, text);
  }
  const stages = declarations.otherStages.map((at) =>
    syntax.diagnostic(at, `'${syntax.text(at)}' functions are not supported: the emulated device runs kernels only`),
  );
  return [...found.values(), ...stages];
}

/** Types that the source declares itself: their names mean nothing here. */
function declaredTypes(syntax: Syntax): ReadonlySet<string> {
  const names = new Set<string>();
  for (let i = 0; i < syntax.tokens.length; i += 1) {
    if (/^(?:struct|class|enum|union|using)$/.test(syntax.text(i)) && syntax.isIdentifier(i + 1))
      names.add(syntax.text(i + 1));
  }
  return names;
}

/** Functions and function-like members that the source declares itself: a name between a type and `(`. */
function declaredFunctions(syntax: Syntax): ReadonlySet<string> {
  const names = new Set<string>();
  for (let i = 1; i < syntax.tokens.length; i += 1) {
    if (!LOOKUP.functions.has(syntax.text(i)) || syntax.text(i + 1) !== "(") continue;
    const before = syntax.text(i - 1);
    const isType = syntax.isIdentifier(i - 1) && !/^(?:return|else|do|case)$/.test(before);
    if (isType || before === ">" || before === "*" || before === "&") names.add(syntax.text(i));
  }
  return names;
}

function isCall(syntax: Syntax, at: number): boolean {
  return syntax.text(at + 1) === "(" && syntax.text(at - 1) !== "." && syntax.text(at - 1) !== "->";
}

/** True if the name stands where only a type can: before `<...>` of a declaration, or before a declared name. */
function isTypeUse(syntax: Syntax, at: number): boolean {
  if (syntax.text(at - 1) === "." || syntax.text(at - 1) === "->") return false;
  if (syntax.isIdentifier(at + 1)) return true;
  return syntax.text(at + 1) === "<" && syntax.closeAngle(at + 1) > 0;
}

/** The refusal for a header that clang did not find, or undefined if it belongs to no unsupported construct. */
export function unsupportedHeader(message: string): string | undefined {
  const header = /^'(.*)' file not found/.exec(message)?.[1];
  if (header === undefined) return undefined;
  const entry = UNSUPPORTED.find((one) => one.headers?.some((start) => header.startsWith(start)));
  return entry && refusal(entry, header);
}
