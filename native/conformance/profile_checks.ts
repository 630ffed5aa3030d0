/** What a device says of itself. */
import type { Device, DeviceProfile, Known, KnownBy } from "../device.ts";
import { APPLE_FAMILIES } from "../device.ts";
import { type ConformanceCheck, must } from "./check.ts";

const KNOWN_BY: readonly KnownBy[] = ["api", "probe", "table", "inferred", "assumed"];

/** Values of a profile that carry how they are known, by name. */
function knownValues(profile: DeviceProfile): readonly (readonly [string, Known<unknown>])[] {
  const { name, chip, architecture, family, metalVersion, os, gpuCores, limits, toolchain, virtualGpu } = profile;
  const always = { name, chip, architecture, family, metalVersion, os, gpuCores, limits, toolchain };
  return Object.entries(virtualGpu === undefined ? always : { ...always, virtualGpu });
}

async function identity({ profile }: Device): Promise<string> {
  const kinds = { metal: /^metal:.+/, emulated: /^emulated:.+/, nvidia: /^nvidia:.+/ };
  const kind = kinds[profile.execution];
  must(kind !== undefined, `execution is '${profile.execution}'; it must be ${Object.keys(kinds).join(", ")}`);
  must(kind.test(profile.id), `id is '${profile.id}'; that of a device of execution ${profile.execution} is ${kind}`);
  must(
    (APPLE_FAMILIES as readonly string[]).includes(profile.family.value),
    `family is '${profile.family.value}'; known are ${APPLE_FAMILIES.join(", ")}`,
  );
  must(profile.name.value !== "", "name is empty");
  return `${profile.id}: ${profile.name.value}, ${profile.family.value}, ${profile.os.value}`;
}

async function knownBy({ profile }: Device): Promise<string> {
  const values = knownValues(profile);
  for (const [label, known] of values) {
    must(KNOWN_BY.includes(known.by), `${label} is known by '${known.by}'; it must be one of ${KNOWN_BY.join(", ")}`);
    must(known.source.trim() !== "", `${label} does not say where it was read`);
    must(
      !(profile.execution === "emulated" && known.by === "api"),
      `${label} is known by 'api' on an emulated device, which has no API to ask`,
    );
  }
  return values.map(([label, known]) => `${label} by ${known.by}`).join(", ");
}

async function facts({ profile }: Device): Promise<string> {
  const given = profile.facts ?? [];
  must(
    profile.execution === "emulated" || given.length > 0,
    "a device that is there must state the facts that were read of it",
  );
  const seen = new Set<string>();
  for (const fact of given) {
    must(!seen.has(fact.id), `two facts are called '${fact.id}'`);
    seen.add(fact.id);
    must(fact.source.trim() !== "", `fact '${fact.id}' does not say where it was read`);
    must(
      (fact.value === null) === (fact.reason !== null),
      `fact '${fact.id}' has value ${JSON.stringify(fact.value)} and reason ${JSON.stringify(fact.reason)}; it must have exactly one`,
    );
  }
  return given.length === 0 ? "an emulated device states none" : `${given.length} facts, each with value or reason`;
}

async function limits({ profile }: Device): Promise<string> {
  const { value } = profile.limits;
  const least: readonly (readonly [keyof typeof value, number, string])[] = [
    ["maxThreadsPerThreadgroup", 512, "every Apple GPU of this project's families launches 1,024"],
    ["maxThreadgroupMemoryBytes", 16_384, "Metal feature set tables: 32 KB from Apple4 on"],
  ];
  const exact: readonly (readonly [keyof typeof value, number, string])[] = [
    ["simdWidth", 32, "every Apple GPU"],
    ["threadgroupMemoryAlignmentBytes", 16, "Metal feature set tables"],
    ["bufferSlots", 31, "Metal feature set tables"],
    ["setBytesMax", 4096, "MTLComputeCommandEncoder, setBytes"],
  ];
  for (const [name, wanted, source] of least) {
    must(value[name] >= wanted, `${name} is ${value[name]}; it must be ${wanted} or more (${source})`);
  }
  for (const [name, wanted, source] of exact) {
    must(value[name] === wanted, `${name} is ${value[name]}; it must be ${wanted} (${source})`);
  }
  return `${value.maxThreadsPerThreadgroup} threads, ${value.maxThreadgroupMemoryBytes} bytes of threadgroup memory, SIMD width ${value.simdWidth}`;
}

async function virtualGpu({ profile }: Device): Promise<string> {
  if (profile.execution === "metal") {
    must(profile.virtualGpu !== undefined, "a Metal device must say whether its GPU is virtual");
    must(
      profile.family.value !== "apple5" || profile.virtualGpu.value,
      "no M-series GPU reports Apple5: it is a virtual one and must be marked so",
    );
    return profile.virtualGpu.value
      ? `virtual (${profile.virtualGpu.source}): its results support no chip`
      : `not virtual (${profile.virtualGpu.source})`;
  }
  must(profile.virtualGpu?.value !== true, `a device of execution ${profile.execution} cannot be a virtual GPU`);
  return `execution ${profile.execution}: there is no GPU that could be virtual`;
}

export const PROFILE_CHECKS: readonly ConformanceCheck[] = [
  { id: "profile.identity", title: "id, execution, name and family fit together", needs: [], run: identity },
  { id: "profile.known_by", title: "every value says how it is known and where it was read", needs: [], run: knownBy },
  { id: "profile.facts", title: "every further fact has a value or the reason why it has none", needs: [], run: facts },
  { id: "profile.limits", title: "limits are those of an Apple GPU", needs: [], run: limits },
  { id: "profile.virtual_gpu", title: "a virtual GPU is marked as one", needs: [], run: virtualGpu },
];
