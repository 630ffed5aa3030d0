/**
 * Which device the next run takes: what a URL says, what there is to choose from, and why the default is what it is. Pure.
 *
 * In the URL `device` is a Metal device or `emulated`, `chip` a chip to emulate; neither: the device at hand.
 */
import type { CallOutput } from "../../electron/contract.ts";

export type DeviceEntry = CallOutput<"devices.list">["devices"][number];
export type Profile = Extract<DeviceEntry, { readonly available: true }>["profile"];
type Chip = CallOutput<"chips.list">["chips"][number];

/** As `runs.start` takes it. */
export interface DeviceChoice {
  readonly device: string | null;
  readonly chip: string | null;
}

/** The device at hand. */
export const AT_HAND: DeviceChoice = { device: null, chip: null };

/** A chip names what to emulate, so that it comes before a device. */
export function choiceOf(params: Readonly<Record<string, string>>): DeviceChoice {
  if (params.chip !== undefined) return { device: null, chip: params.chip };
  return { device: params.device ?? null, chip: null };
}

/** Parameters of the URL for a choice; null takes one away. */
export function paramsOf({ device, chip }: DeviceChoice): Readonly<Record<"device" | "chip", string | null>> {
  return { device, chip };
}

/** Words of the command line for a choice. */
export function choiceWords({ device, chip }: DeviceChoice): readonly string[] {
  return [...(device === null ? [] : ["--device", device]), ...(chip === null ? [] : ["--chip", chip])];
}

function profilesOf(devices: readonly DeviceEntry[]): readonly Profile[] {
  return devices.flatMap((entry) => (entry.available ? [entry.profile] : []));
}

/** The device at hand: the system's default among Metal devices, else the first that is there. */
export function defaultProfile(devices: readonly DeviceEntry[]): Profile | undefined {
  const profiles = profilesOf(devices);
  return profiles.find((profile) => profile.execution === "metal" && isDefault(profile)) ?? profiles[0];
}

function isDefault({ facts }: Profile): boolean {
  return facts?.some(({ id, value }) => id === "is_default" && value === "yes") ?? false;
}

/** True where the choice is a chip to emulate, or the emulated device. */
function isEmulatedChoice({ device, chip }: DeviceChoice): boolean {
  return chip !== null || (device?.startsWith("emulated") ?? false);
}

/**
 * The profile that a choice stands for, out of the list that was asked for with its chip; undefined where it is not there. A
 * kind without a number is the first of its kind.
 */
export function chosenProfile(devices: readonly DeviceEntry[], choice: DeviceChoice): Profile | undefined {
  const profiles = profilesOf(devices);
  if (isEmulatedChoice(choice)) return profiles.find(({ execution }) => execution === "emulated");
  if (choice.device === null) return defaultProfile(devices);
  const kind = profiles.filter(({ execution }) => execution === choice.device);
  return profiles.find(({ id }) => id === choice.device) ?? kind.find(isDefault) ?? kind[0];
}

export interface DeviceOption {
  /** Of the select; `optionChoice` reads it. */
  readonly value: string;
  readonly label: string;
  readonly disabled: boolean;
}

export interface DeviceOptions {
  readonly label: string;
  readonly options: readonly DeviceOption[];
}

const CHIP_PREFIX = "chip ";

export function optionValue({ device, chip }: DeviceChoice): string {
  return chip === null ? (device ?? "") : `${CHIP_PREFIX}${chip}`;
}

export function optionChoice(value: string): DeviceChoice {
  if (value.startsWith(CHIP_PREFIX)) return { device: null, chip: value.slice(CHIP_PREFIX.length) };
  return { device: value === "" ? null : value, chip: null };
}

/** `Apple M3 Max, Apple9`; a virtual GPU is named so. */
function metalLabel({ id, name, family, virtualGpu }: Profile): string {
  return `${name.value}, ${familyText(family.value)}${virtualGpu?.value === true ? ", virtual GPU" : ""} (${id})`;
}

/** `Apple9`. */
function familyText(family: string): string {
  return family.replace("apple", "Apple");
}

/**
 * The choices in groups: the device at hand, Metal devices, what can be emulated, newest family first. What is not there
 * stands there with the reason and cannot be chosen.
 */
export function deviceOptions(devices: readonly DeviceEntry[], chips: readonly Chip[]): readonly DeviceOptions[] {
  const first = defaultProfile(devices);
  const metals = profilesOf(devices).filter(({ execution }) => execution === "metal");
  const emulated = devices.find(({ kind }) => kind === "emulated");
  const why = (kind: DeviceEntry["kind"]): string =>
    devices.flatMap((entry) => (entry.kind === kind && !entry.available ? [entry.reason] : []))[0] ?? "not asked yet";
  const own = emulated?.available === true ? emulated.profile.chip.value : null;
  return [
    {
      label: "At hand",
      options: [
        {
          value: "",
          label: first === undefined ? "default: no device" : `default: ${first.name.value}`,
          disabled: false,
        },
      ],
    },
    {
      label: "Metal devices",
      options:
        metals.length > 0
          ? metals.map((profile) => ({ value: profile.id, label: metalLabel(profile), disabled: false }))
          : [{ value: "metal", label: `none: ${why("metal")}`, disabled: true }],
    },
    {
      label: "Emulated, of no chip",
      options:
        own === null
          ? [{ value: "emulated", label: `none: ${why("emulated")}`, disabled: true }]
          : [
              { value: "emulated", label: "default chip, emulated", disabled: false },
              ...[...chips].reverse().map(({ shortName, family }) => ({
                value: `${CHIP_PREFIX}${shortName}`,
                label: `${shortName}, ${familyText(family)}, emulated`,
                disabled: false,
              })),
            ],
    },
  ];
}

/** Why a run takes this device, in one sentence. */
export function whyDevice(devices: readonly DeviceEntry[], choice: DeviceChoice): string {
  const profile = chosenProfile(devices, choice);
  const metal = devices.find(({ kind }) => kind === "metal");
  if (profile === undefined) {
    const emulated = devices.find(({ kind }) => kind === "emulated");
    if (choice.device !== null && !isEmulatedChoice(choice)) return `${choice.device} is not there`;
    return emulated?.available === false ? `no device: ${emulated.reason}` : "no device is there";
  }
  if (choice.device !== null || choice.chip !== null) return "chosen by you";
  if (profile.execution !== "emulated") return "the system's own device comes first";
  return metal?.available === false ? `emulated, for there is no Metal device: ${metal.reason}` : "emulated";
}

/** Whether a run under Metal's validation, or a capture, is possible on the device of a choice, and why not. */
export function metalOnly(
  devices: readonly DeviceEntry[],
  choice: DeviceChoice,
): { readonly possible: boolean; readonly reason: string } {
  const profile = chosenProfile(devices, choice);
  if (profile?.execution === "metal") return { possible: true, reason: "" };
  const metals = profilesOf(devices).filter(({ execution }) => execution === "metal");
  if (metals.length > 0) return { possible: false, reason: `only on a Metal device: choose ${metals[0]!.name.value}` };
  const metal = devices.find(({ kind }) => kind === "metal");
  return {
    possible: false,
    reason: metal?.available === false ? `no Metal device: ${metal.reason}` : "no Metal device",
  };
}
