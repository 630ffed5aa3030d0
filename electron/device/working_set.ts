/** What a device says that the GPU may keep resident. Pure; the window reads it for the memory budget. */
import { type DeviceProfile, WORKING_SET_FACT } from "../../native/device.ts";

/** `recommendedMaxWorkingSetSize` in bytes; null where the device does not report it, as an emulated one does not. */
export function workingSetOf({ facts }: { readonly facts?: DeviceProfile["facts"] | undefined }): number | null {
  const fact = facts?.find(({ id }) => id === WORKING_SET_FACT);
  if (fact === undefined || fact.value === null || fact.by !== "api") return null;
  const bytes = Number(fact.value);
  return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : null;
}
