/**
 * The commands that make a GPU binary of a kernel without a GPU, as a table: source to AIR, AIR to a library, library and
 * script to a binary of one architecture. Pure. `metal` and `metallib` are Apple's documented tools; `metal-tt` has a manual
 * page, its script and its output are not described.
 */

/** Types of function constants in a script, by the type in the source. Others were not seen anywhere and are refused. */
const CONSTANT_TYPES: Readonly<Record<string, string>> = {
  bool: "ConstantBool",
  short: "ConstantShort",
  int: "ConstantInt",
  uint: "ConstantUInt",
};

export interface ScriptConstant {
  readonly index: number;
  /** As in the source: `bool`, `short`, `int`, `uint`. */
  readonly type: string;
  readonly value: number | boolean;
}

const LIBRARY = "lockstep";

/**
 * The script that names one kernel and its constants. One kernel a script: the binary does not say whose figures are whose.
 * Throws RangeError for a type that scripts are not known to take.
 */
export function pipelineScript(kernel: string, constants: readonly ScriptConstant[] = []): string {
  if (constants.length === 0) {
    return JSON.stringify({ pipelines: { compute_pipelines: [{ compute_function: kernel }] } });
  }
  const specialised = `${kernel}_specialised`;
  const values = constants.map(({ index, type, value }) => {
    const known = CONSTANT_TYPES[type];
    if (known === undefined) {
      throw new RangeError(
        `A constant of type ${type}: scripts are known to take ${Object.keys(CONSTANT_TYPES).join(", ")}`,
      );
    }
    return { id_type: "FunctionConstantIndex", id: { data: index }, value_type: known, value: { data: value } };
  });
  return JSON.stringify({
    libraries: {
      specialized_functions: [
        { label: LIBRARY, function: kernel, specialized_name: specialised, constant_values: values },
      ],
    },
    pipelines: { compute_pipelines: [{ compute_function: `alias:${LIBRARY}#${specialised}` }] },
  });
}

/** Math and optimisation as a parity run has them. No debug information: `metal-tt` refuses some libraries that hold it. */
const COMPILE_FLAGS = ["-O2", "-fno-fast-math"] as const;

export interface Step {
  readonly id: "compile" | "library" | "translate";
  /** What it does, in words. */
  readonly does: string;
  readonly command: readonly string[];
  /** File that is there afterwards. */
  readonly writes: string;
}

export interface SourceFiles {
  readonly source: string;
  readonly air: string;
  readonly library: string;
}

/** From a source to a library. `language` is an MSL version: `3.1`. */
export function librarySteps(
  { source, air, library }: SourceFiles,
  language: string,
  defines: Readonly<Record<string, string | number>>,
): readonly Step[] {
  const macros = Object.entries(defines).map(([name, value]) => `-D${name}=${value}`);
  const tool = (name: string): readonly string[] => ["xcrun", "-sdk", "macosx", name];
  return [
    {
      id: "compile",
      does: "compile the source to AIR",
      command: [...tool("metal"), `-std=metal${language}`, ...COMPILE_FLAGS, ...macros, "-c", source, "-o", air],
      writes: air,
    },
    {
      id: "library",
      does: "pack AIR into a library",
      command: [...tool("metallib"), air, "-o", library],
      writes: library,
    },
  ];
}

/** From a library to the binary of one kernel for one architecture. */
export function translateStep(architecture: string, library: string, script: string, binary: string): Step {
  return {
    id: "translate",
    does: `translate to ${architecture}`,
    command: ["xcrun", "-sdk", "macosx", "metal-tt", "-arch", architecture, library, script, "-o", binary],
    writes: binary,
  };
}

/** Ending of a script by which `metal-tt` knows it. */
export const SCRIPT_ENDING = ".mtlp-json";
