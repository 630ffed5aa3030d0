/** What Electron knows of the state of the machine, which decides what a measured time is worth. */
import { powerMonitor } from "electron";
import type { SystemReadings } from "../host/machine.ts";

export function systemReadings(): SystemReadings {
  // macOS alone has the first. Electron has no reading of the low power mode.
  const thermal = process.platform === "darwin" ? powerMonitor.getCurrentThermalState() : "unknown";
  return {
    thermalState: thermal === "unknown" ? null : thermal,
    lowPowerMode: null,
    onBattery: powerMonitor.isOnBatteryPower(),
  };
}
