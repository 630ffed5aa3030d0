/** A route's table for a shape: dispatches, buffers with bytes, contracts, what the source is compiled with. */
import type { ReactElement } from "react";
import type { RoutePlan } from "../../../kernels/route.ts";
import { PaneHead } from "../../parts/pane.tsx";
import { countText, plural, sizeText } from "../../parts/text.ts";
import { bindings, dynamicBytes, product3, sizeText3 } from "./plan.ts";

function DispatchTable({ plan }: { readonly plan: RoutePlan }): ReactElement {
  return (
    <table className="tbl plan" data-table="dispatches">
      <thead>
        <tr>
          <th>dispatch</th>
          <th className="num">threadgroups</th>
          <th className="num">threads of each</th>
          <th className="num">dynamic B</th>
        </tr>
      </thead>
      {plan.dispatches.map((entry, index) => (
        <tbody key={entry.stage}>
          <tr>
            <td>
              <span className="t3">{index + 1}</span> <span className="m">{entry.stage}</span>
            </td>
            <td className="num" title={`${countText(product3(entry.threadgroups))} threadgroups`}>
              {sizeText3(entry.threadgroups)}
            </td>
            <td className="num">{sizeText3(entry.threadsPerThreadgroup)}</td>
            <td className="num">{countText(dynamicBytes(entry.threadgroupMemory))}</td>
          </tr>
          <tr className="under">
            <td colSpan={4}>
              <code className="block">{entry.kernel}</code>
              <span className="micro t3">{bindings(entry.buffers, entry.params).join(", ")}</span>
            </td>
          </tr>
        </tbody>
      ))}
    </table>
  );
}

export function BufferTable({ plan }: { readonly plan: RoutePlan }): ReactElement {
  return (
    <table className="tbl plan" data-table="buffers">
      <thead>
        <tr>
          <th>buffer</th>
          <th>role</th>
          <th className="num">type and shape</th>
          <th className="num">bytes</th>
        </tr>
      </thead>
      <tbody>
        {plan.buffers.map((buffer) => (
          <tr key={buffer.name}>
            <td className="m">{buffer.name}</td>
            <td className={buffer.role === "scratch" ? "b" : "t2"}>{buffer.role}</td>
            <td className="num t2">
              <span className="t3">{buffer.dtype}</span> {buffer.shape.map(countText).join(" × ")}
            </td>
            <td className="num" title={sizeText(buffer.bytes)}>
              {countText(buffer.bytes)}
            </td>
          </tr>
        ))}
        <tr>
          <td className="b" colSpan={3}>
            scratch, all together
          </td>
          <td className="num b" title={sizeText(plan.scratchBytes)}>
            {countText(plan.scratchBytes)}
          </td>
        </tr>
      </tbody>
    </table>
  );
}

export function ContractTable({ plan }: { readonly plan: RoutePlan }): ReactElement {
  return (
    <table className="tbl plan" data-table="contracts">
      <thead>
        <tr>
          <th>pipeline</th>
          <th className="num">simd width</th>
          <th className="num">launches</th>
          <th className="num">threadgroup B</th>
        </tr>
      </thead>
      {plan.contracts.map((entry) => (
        <tbody key={entry.kernel}>
          <tr>
            <td>
              <code>{entry.kernel}</code>
            </td>
            <td className="num">{entry.simdWidth}</td>
            <td className="num">≥ {countText(entry.threads)}</td>
            <td
              className="num"
              title={`static and dynamic together; ${countText(entry.dynamicThreadgroupBytes)} B are dynamic`}
            >
              ≤ {countText(entry.threadgroupBytesLimit)}
            </td>
          </tr>
          <tr className="under">
            <td colSpan={4} className="t3 micro">
              {entry.reason}
            </td>
          </tr>
        </tbody>
      ))}
    </table>
  );
}

function CompiledWith({ plan }: { readonly plan: RoutePlan }): ReactElement {
  return (
    <dl className="kv inset defines">
      {Object.entries(plan.defines).map(([name, value]) => (
        <div key={name} className="pair">
          <dt>
            <code>{name}</code>
          </dt>
          <dd className="mono">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Everything, one below the other. */
export function PlanTables({ plan }: { readonly plan: RoutePlan }): ReactElement {
  return (
    <>
      <DispatchTable plan={plan} />
      <PaneHead title="Buffers" meta={`scratch ${sizeText(plan.scratchBytes)}`} line />
      <BufferTable plan={plan} />
      <PaneHead title="Contracts" meta="what each compiled pipeline must report" line />
      <ContractTable plan={plan} />
      <PaneHead title="Compiled with" meta={plural(Object.keys(plan.defines).length, "definition")} line />
      <CompiledWith plan={plan} />
    </>
  );
}
