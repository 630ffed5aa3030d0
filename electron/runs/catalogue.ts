/** The catalogue of the built-in kernels for a device. */
import type { Operator, Route } from "../../kernels/route.ts";
import { routesFor } from "../../kernels/routes.ts";
import type { DeviceProfile } from "../../native/device.ts";
import { capabilitiesOf, dispatch } from "../dispatch/dispatch.ts";
import type { Catalogue } from "./plan.ts";

/** Routes and decisions for the device behind a profile. */
export function catalogueFor(profile: DeviceProfile): Catalogue {
  const capabilities = capabilitiesOf(profile);
  return {
    routesFor: (operator: Operator): readonly Route[] => routesFor(operator),
    decide: (shape) => dispatch(shape, capabilities),
  };
}
