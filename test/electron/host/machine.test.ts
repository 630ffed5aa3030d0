/** The state of the machine, read from folders that stand for `/`, and from this machine itself. */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type MachineFact, machineState } from "../../../electron/host/machine.ts";

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) fs.rmSync(folder, { recursive: true });
});

function rootWith(files: Readonly<Record<string, string>>): string {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), "lockstep-machine-"));
  folders.push(root);
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    fs.writeFileSync(path.join(root, name), text);
  }
  return root;
}

function pick(facts: readonly MachineFact[], id: string): MachineFact {
  const found = facts.find((fact) => fact.id === id);
  if (found === undefined) throw new Error(`no fact ${id}`);
  return found;
}

const LINUX = {
  "proc/loadavg": "0.50 1.25 2.00 1/95 804\n",
  "proc/pressure/cpu": "some avg10=12.50 avg60=1.00 avg300=0.10 total=1\n",
  "proc/meminfo": "MemTotal: 8388608 kB\nMemAvailable:  4194304 kB\n",
  "sys/fs/cgroup/cpu.max": "250000 100000\n",
  "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
  "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq": "3200000\n",
  "sys/class/thermal/thermal_zone0/temp": "41500\n",
  "sys/class/thermal/thermal_zone0/type": "acpitz\n",
  "sys/class/thermal/thermal_zone1/temp": "63000\n",
  "sys/class/thermal/thermal_zone1/type": "x86_pkg_temp\n",
  "sys/class/power_supply/AC/type": "Mains\n",
  "sys/class/power_supply/AC/online": "0\n",
};

describe("the state of a machine", () => {
  it("reads what a Linux system has", () => {
    const facts = machineState({ root: rootWith(LINUX), platform: "linux" });
    const values = Object.fromEntries(facts.map(({ id, value }) => [id, value]));
    expect(values).toMatchObject({
      load: "0.50, 1.25, 2.00",
      pressure: "12.50 % of the last 10 s",
      available: "4.00 GiB",
      quota: "2.50 cores",
      governor: "performance",
      clock: "3.20 GHz, processor 0",
      temperature: "63.0 °C (x86_pkg_temp)",
      supply: "battery",
    });
  });

  it("says why where there is nothing to read, and keeps the rows", () => {
    const full = machineState({ root: rootWith(LINUX), platform: "linux" });
    const bare = machineState({ root: rootWith({}), platform: "linux" });
    expect(bare.map(({ id }) => id)).toEqual(full.map(({ id }) => id));
    expect(pick(bare, "temperature")).toMatchObject({
      value: null,
      reason: "/sys/class/thermal has no zone that can be read",
    });
    expect(pick(bare, "governor").reason).toContain("cpufreq");
    for (const { value, reason } of [...bare, ...full]) expect((value === null) === (reason !== null)).toBe(true);
  });

  it("takes nothing for a number that is none", () => {
    const root = rootWith({
      "sys/fs/cgroup/cpu.max": "many 100000\n",
      "sys/class/thermal/thermal_zone0/temp": "warm\n",
    });
    const facts = machineState({ root, platform: "linux" });
    expect(pick(facts, "quota").value).toBeNull();
    expect(pick(facts, "temperature").value).toBeNull();
    const unlimited = machineState({ root: rootWith({ "sys/fs/cgroup/cpu.max": "max 100000\n" }), platform: "linux" });
    expect(pick(unlimited, "quota").value).toBe("none");
  });

  it("has thermal state and low power mode of a Mac from its system alone", () => {
    const silent = machineState({ root: rootWith({}), platform: "darwin" });
    expect(pick(silent, "thermal_state")).toMatchObject({
      value: null,
      reason: expect.stringContaining("NSProcessInfo"),
    });
    const readings = { thermalState: "fair", lowPowerMode: true, onBattery: false };
    const facts = machineState({ root: rootWith({}), platform: "darwin", readings });
    expect(pick(facts, "thermal_state")).toMatchObject({ value: "fair", by: "api" });
    expect(pick(facts, "low_power").value).toBe("on");
    expect(pick(facts, "supply").value).toBe("mains");
    expect(pick(machineState({ root: rootWith({}), platform: "linux" }), "thermal_state").reason).toContain("macOS");
  });

  it("knows this machine", () => {
    const facts = machineState();
    expect(pick(facts, "cores").value).toBe(String(os.cpus().length));
    expect(new Set(facts.map(({ id }) => id)).size).toBe(facts.length);
  });
});
