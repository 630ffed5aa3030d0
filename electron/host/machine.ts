/**
 * The state of the machine right now, as far as it can be read: what a measured time depends on. Every value says how it
 * is known; what cannot be read says why. Reads files below `/proc` and `/sys`; nothing is written.
 */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import type { KnownBy } from "../../native/device.ts";
import { hostFacts } from "./facts.ts";

const MACHINE_GROUPS = ["machine", "load", "thermal", "power"] as const;
export type MachineGroup = (typeof MACHINE_GROUPS)[number];

/** One value of the machine. Exactly one of `value` and `reason` is there. */
export interface MachineFact {
  readonly id: string;
  readonly group: MachineGroup;
  readonly label: string;
  readonly value: string | null;
  readonly by: KnownBy;
  readonly source: string;
  /** Why it is not known. */
  readonly reason: string | null;
}

/** What only a desktop shell on a Mac can ask its system for. */
export interface SystemReadings {
  /** `NSProcessInfo.thermalState`: nominal, fair, serious, critical. */
  readonly thermalState: string | null;
  /** `NSProcessInfo.isLowPowerModeEnabled`. */
  readonly lowPowerMode: boolean | null;
  readonly onBattery: boolean | null;
}

interface MachineOptions {
  /** Folder that stands for `/`. */
  readonly root?: string;
  readonly platform?: NodeJS.Platform;
  readonly readings?: SystemReadings;
}

type Read = { readonly value: string } | { readonly reason: string };

function fact(group: MachineGroup, id: string, label: string, by: KnownBy, source: string, read: Read): MachineFact {
  const known = "value" in read;
  return {
    id,
    group,
    label,
    by,
    source,
    value: known ? read.value : null,
    reason: known ? null : read.reason,
  };
}

class Files {
  readonly #root: string;
  constructor(root: string) {
    this.#root = root;
  }

  text(file: string): string | undefined {
    try {
      return fs.readFileSync(path.join(this.#root, file), "utf8").trim();
    } catch {
      return undefined;
    }
  }

  names(folder: string): readonly string[] {
    try {
      return fs.readdirSync(path.join(this.#root, folder)).sort();
    } catch {
      return [];
    }
  }
}

function gib(bytes: number): string {
  return `${(bytes / 2 ** 30).toPrecision(3)} GiB`;
}

function missing(file: string): Read {
  return { reason: `this system has no ${file}` };
}

function loadAverage(files: Files): Read {
  const words = files.text("proc/loadavg")?.split(" ").slice(0, 3);
  if (words === undefined || words.length < 3) return missing("/proc/loadavg");
  return { value: words.join(", ") };
}

/** Share of the last ten seconds in which some task waited for a processor. */
function pressure(files: Files): Read {
  const share = /^some avg10=([\d.]+)/m.exec(files.text("proc/pressure/cpu") ?? "")?.[1];
  return share === undefined ? missing("/proc/pressure/cpu") : { value: `${share} % of the last 10 s` };
}

/** Processors that this control group may use. */
function quota(files: Files): Read {
  const [limit, period] = (files.text("sys/fs/cgroup/cpu.max") ?? "").split(" ");
  if (limit === undefined || period === undefined) return missing("/sys/fs/cgroup/cpu.max");
  if (limit === "max") return { value: "none" };
  const cores = Number(limit) / Number(period);
  return Number.isFinite(cores)
    ? { value: `${cores.toPrecision(3)} cores` }
    : missing("readable /sys/fs/cgroup/cpu.max");
}

function available(files: Files): Read {
  const kib = /^MemAvailable:\s+(\d+) kB/m.exec(files.text("proc/meminfo") ?? "")?.[1];
  return kib === undefined ? missing("/proc/meminfo") : { value: gib(Number(kib) * 1024) };
}

function governor(files: Files): Read {
  const text = files.text("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  return text === undefined ? missing("/sys/devices/system/cpu/cpu0/cpufreq") : { value: text };
}

function clock(files: Files): Read {
  const khz = Number(files.text("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq") ?? Number.NaN);
  if (Number.isFinite(khz)) return { value: `${(khz / 1e6).toPrecision(3)} GHz, processor 0` };
  return missing("/sys/devices/system/cpu/cpu0/cpufreq");
}

/** The hottest zone and its name. */
function temperature(files: Files): Read {
  const folder = "sys/class/thermal";
  const zones = files.names(folder).flatMap((zone) => {
    const milli = Number(files.text(`${folder}/${zone}/temp`) ?? Number.NaN);
    if (!zone.startsWith("thermal_zone") || !Number.isFinite(milli)) return [];
    return [{ name: files.text(`${folder}/${zone}/type`) ?? zone, celsius: milli / 1000 }];
  });
  const hottest = zones.sort((a, b) => b.celsius - a.celsius)[0];
  if (hottest === undefined) return { reason: "/sys/class/thermal has no zone that can be read" };
  return { value: `${hottest.celsius.toFixed(1)} °C (${hottest.name})` };
}

function supply(files: Files): Read {
  const folder = "sys/class/power_supply";
  const names = files.names(folder);
  for (const name of names) {
    const online = files.text(`${folder}/${name}/online`);
    if (files.text(`${folder}/${name}/type`) === "Mains" && online !== undefined) {
      return { value: online === "1" ? "mains" : "battery" };
    }
  }
  return { reason: "/sys/class/power_supply has no mains supply" };
}

const NOT_A_MAC = "a state of macOS; this system has none";
const NO_READER = "NSProcessInfo says it; nothing here reads it";

function system(
  platform: NodeJS.Platform,
  { thermalState, lowPowerMode, onBattery }: SystemReadings,
): readonly MachineFact[] {
  const read = (value: string | null): Read =>
    value !== null ? { value } : { reason: platform === "darwin" ? NO_READER : NOT_A_MAC };
  return [
    fact("thermal", "thermal_state", "thermal state", "api", "NSProcessInfo.thermalState", read(thermalState)),
    fact(
      "power",
      "low_power",
      "low power",
      "api",
      "NSProcessInfo.isLowPowerModeEnabled",
      read(lowPowerMode === null ? null : lowPowerMode ? "on" : "off"),
    ),
    ...(platform === "darwin"
      ? [
          fact(
            "power",
            "supply",
            "power supply",
            "api",
            "power source of the system",
            read(onBattery === null ? null : onBattery ? "battery" : "mains"),
          ),
        ]
      : []),
  ];
}

const NO_READINGS: SystemReadings = { thermalState: null, lowPowerMode: null, onBattery: null };

/** The machine as it is at this moment. The rows are the same at every call on one system. */
export function machineState(options: MachineOptions = {}): readonly MachineFact[] {
  const { root = "/", platform = process.platform, readings = NO_READINGS } = options;
  const files = new Files(root);
  const host = hostFacts();
  const onLinux = (read: () => Read): Read => (platform === "linux" ? read() : { reason: "read on Linux alone" });
  const averages = os.loadavg().map((value) => value.toFixed(2));
  return [
    fact("machine", "system", "system", "api", "uname", { value: `${host.os}, ${host.arch}` }),
    fact("machine", "cpu", "processor", "api", "os.cpus", { value: host.cpu }),
    fact("machine", "cores", "logical cores", "api", "os.cpus", { value: String(host.cores) }),
    fact(
      "machine",
      "quota",
      "core limit",
      "probe",
      "/sys/fs/cgroup/cpu.max",
      onLinux(() => quota(files)),
    ),
    fact("machine", "memory", "memory", "api", "os.totalmem", { value: gib(Number(host.memoryBytes)) }),
    fact(
      "load",
      "load",
      "load average",
      platform === "linux" ? "probe" : "api",
      platform === "linux" ? "/proc/loadavg: 1, 5 and 15 minutes" : "getloadavg: 1, 5 and 15 minutes",
      platform === "linux" ? loadAverage(files) : { value: averages.join(", ") },
    ),
    fact(
      "load",
      "pressure",
      "CPU pressure",
      "probe",
      "/proc/pressure/cpu",
      onLinux(() => pressure(files)),
    ),
    fact(
      "load",
      "available",
      "memory free",
      "probe",
      "/proc/meminfo",
      onLinux(() => available(files)),
    ),
    ...(platform === "linux"
      ? [
          fact("thermal", "temperature", "hottest zone", "probe", "/sys/class/thermal", temperature(files)),
          fact("power", "governor", "governor", "probe", "/sys/…/cpu0/cpufreq", governor(files)),
          fact("power", "clock", "clock", "probe", "/sys/…/cpu0/cpufreq", clock(files)),
          fact("power", "supply", "power supply", "probe", "/sys/class/power_supply", supply(files)),
        ]
      : []),
    ...system(platform, readings),
  ];
}
