/** The environment that a host is started with. */
import type { HostEnvironment } from "./transport.ts";

/**
 * That of this process and what is asked for. A host that is asked for something of Metal's has no other variable of Metal's: one
 * that a user has set for another purpose could switch off what the record says was on.
 */
export function hostEnvironment(
  environment: HostEnvironment,
  own: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string | undefined> {
  const asks = Object.keys(environment).length > 0;
  const kept = Object.entries(own).filter(([name]) => !asks || !/^(?:MTL|METAL)_/.test(name));
  return { ...Object.fromEntries(kept), ...environment };
}
