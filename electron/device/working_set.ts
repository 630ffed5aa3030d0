/** What a device says that the GPU may keep resident. Pure; the window reads it for the memory budget. */
import type { DeviceProfile } from "../../native/device.ts";

/** Id of the fact among those of a Metal device, `native/metal/facts.ts`; its value is bytes in decimal. */
const WORKING_SET_FACT = "recommended_working_set_bytes";

/** `recommendedMaxWorkingSetSize` in bytes; null where the device does not report it, as an emulated one does not. */
export function workingSetOf({ facts }: { readonly facts?: DeviceProfile["facts"] | undefined }): number | null {
  const fact = facts?.find(({ id }) => id === WORKING_SET_FACT);
  if (fact === undefined || fact.value === null || fact.by !== "api") return null;
  const bytes = Number(fact.value);
  return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : null;
}
