/** Which route a case takes on a chip, and why every other one does not; any change is decided again at once. */
import { type ReactElement, useMemo } from "react";
import { parityWords } from "../../../electron/actions.ts";
import type { StartRequest } from "../../../electron/contract.ts";
import type { CaseShape } from "../../../kernels/route.ts";
import { ActionButton } from "../../parts/button.tsx";
import { FailureNote } from "../../parts/failure.tsx";
import { Glyph } from "../../parts/glyph.tsx";
import { Pane, PaneHead } from "../../parts/pane.tsx";
import { Panes } from "../../parts/panes.tsx";
import { StandingTag, standingOf } from "../../parts/standing.tsx";
import { lengthText, sizeText } from "../../parts/text.ts";
import { useAction } from "../../shell/actions.ts";
import { useViewCommand } from "../../shell/command.ts";
import { useTrail } from "../../shell/top_bar.tsx";
import { AT_HAND, paramsOf } from "../../state/device_choice.ts";
import { useAnswer, useLive, useSession } from "../../state/session.ts";
import { go, setParams, useView } from "../../state/view.ts";
import { planFor } from "../kernels/plan.ts";
import { BufferTable, ContractTable } from "../kernels/plan_tables.tsx";
import { type Asked, askedOf, caseOf, changedShape, dispatchWords, type ListedCase } from "./asked.ts";
import { Candidates } from "./candidates.tsx";
import { type Chip, ChipsPane } from "./chips_pane.tsx";
import "../../styles/dispatch.css";
import { variationsOf } from "./flips.ts";
import { type Explained, questionOf, useDecisions, useExplain } from "./use_explain.ts";
import { WhatIf } from "./what_if.tsx";
import { whySentence } from "./words.ts";

const NO_CHIPS: readonly Chip[] = [];

/** `M3 Max` of `Apple M3 Max`. */
function shortChip(name: string): string {
  return name.replace(/^Apple /, "");
}

/** Offers to run the case with the route that was decided, on the chip that was asked about. */
function useRunAction(
  asked: Asked,
  same: ListedCase | undefined,
  { route, current }: { readonly route: string | null; readonly current: boolean },
): void {
  const session = useSession();
  const running = useLive()?.outcome === "running";
  const quick = useAnswer("cases.list", { suite: "quick" });
  const standard = useAnswer("cases.list", { suite: "standard" });
  const has = (answer: typeof quick): boolean =>
    answer.state === "there" && answer.value.cases.some(({ key }) => key === same?.key);
  const suite = has(quick) ? "quick" : has(standard) ? "standard" : "full";
  const request: StartRequest = {
    suite,
    inputs: null,
    operator: null,
    route,
    case: same?.key ?? null,
    ...asked.choice,
    validation: false,
    seed: null,
    timeoutMs: null,
    workers: null,
  };
  const start = async (): Promise<void> => {
    const id = await session.startRun(request);
    if (id !== undefined) go("run", { suite });
  };
  const blocked = running
    ? "a run is going on"
    : !current
      ? "the decision is being asked for"
      : route === null
        ? "no route is taken by itself"
        : same === undefined
          ? "no case of the suites has this shape"
          : undefined;
  // The command of the view explains the decision; this one runs it.
  useAction("run.start", () => void start(), blocked, parityWords(request));
}

interface StripProps {
  readonly explained: Explained;
  readonly asked: Asked;
  readonly same: ListedCase | undefined;
  /** False while `explained` answers the question before. */
  readonly current: boolean;
}

function Strip({ explained, asked, same, current }: StripProps): ReactElement {
  const { decision, device } = explained;
  const running = useLive()?.outcome === "running";
  const { route } = decision;
  const standing = standingOf(device.execution, device);
  const runnable = current && route !== null && same !== undefined && !running;
  return (
    <div className={`strip chosen-strip ${route === null ? "f" : "r"}`} data-chosen={route ?? ""}>
      <div className="row">
        {route === null ? <Glyph name="fail" big /> : null}
        <span className="say el">{route === null ? "No route can run" : `Chosen: ${route}`}</span>
        <span className="tag">predicted, not run</span>
        <span className="sp" />
        <ActionButton
          action="run.start"
          look="primary"
          disabled={!runnable}
          title={same === undefined ? "no case of the suites has this shape" : same.key}
        >
          Run case
        </ActionButton>
      </div>
      <div className="small t2" data-device={device.id}>
        <span title={explained.reasons.join("; ")}>On {device.name.value}</span>
        {standing === "chip" ? null : " "}
        <StandingTag standing={standing} />: {whySentence(decision, asked.forced)}.
        {route !== null && same === undefined ? (
          <span className="t3"> No case of the suites has this shape, so it cannot be run from here.</span>
        ) : null}
      </div>
    </div>
  );
}

/** With room below: what the chosen route would bind and must report. */
function Below({ explained }: { readonly explained: Explained }): ReactElement | null {
  const { route } = explained.decision;
  const { plan } = route === null ? { plan: undefined } : planFor(explained.shape as CaseShape, route);
  if (plan === undefined) return null;
  return (
    <div className="below hl">
      <div>
        <PaneHead title={`Buffers of ${plan.route}`} meta={`scratch ${sizeText(plan.scratchBytes)}`} />
        <BufferTable plan={plan} />
      </div>
      <div className="vl">
        <PaneHead title="Contracts" meta="what each compiled pipeline must report" />
        <ContractTable plan={plan} />
      </div>
    </div>
  );
}

interface ViewProps {
  readonly asked: Asked;
  readonly cases: readonly ListedCase[];
}

function DispatchView({ asked, cases }: ViewProps): ReactElement {
  const { params } = useView();
  const { shape, choice, forced } = asked;
  const chipsAnswer = useAnswer("chips.list", {});
  const chips = chipsAnswer.state === "there" ? chipsAnswer.value.chips : NO_CHIPS;
  const question = questionOf(shape, choice, forced);
  const { explained, failure, current: answered } = useExplain(question);
  const standard = useExplain(questionOf(shape, AT_HAND, null)).explained;
  const defaultChip = standard === null ? undefined : shortChip(standard.device.chip.value);
  const byChip = useDecisions(
    chips.map(({ shortName }) => questionOf(shape, { device: null, chip: shortName }, forced)),
  );
  const variations = useDecisions(
    variationsOf(asked).map(({ changes }) => questionOf(changedShape(asked, changes), choice, forced)),
  );
  const same = useMemo(() => caseOf(asked, cases), [asked, cases]);
  const current = explained === null ? undefined : shortChip(explained.device.chip.value);
  const route = explained?.decision.route ?? null;
  const choose = (name: string): void =>
    setParams(paramsOf(name === defaultChip ? AT_HAND : { device: null, chip: name }));
  const move = (by: number): void => {
    // The table stands by family, newest first; so do the arrows.
    const order = [...document.querySelectorAll<HTMLElement>("tr[data-chip]")].map((row) => row.dataset.chip ?? "");
    const at = order.indexOf(current ?? "");
    const next = order[Math.max(0, Math.min(order.length - 1, at + by))];
    if (next !== undefined) choose(next);
  };
  useAction("list.next", () => move(1));
  useAction("list.previous", () => move(-1));
  useAction("window.close", () => setParams({ q: null, open: null }));
  useRunAction(asked, same, { route, current: answered });
  useTrail("What if", shape.operator, `${lengthText(shape)}, ${shape.dtype}`, "predicted, not run");
  useViewCommand(dispatchWords(asked, same));
  const source = (name: string): void => {
    const { chip: _chip, device: _device, open: _open, q: _q, ...rest } = params;
    go("kernels", { ...rest, route: name });
  };
  return (
    <Panes
      page="dispatch"
      leftLabel="What if"
      rightLabel="Chips"
      left={<WhatIf asked={asked} cases={cases} standard={standard?.device} decisions={variations} now={route} />}
      right={
        <ChipsPane
          chips={chips}
          decisions={byChip}
          current={current}
          route={route}
          text={params.q ?? ""}
          onChoose={choose}
          note={chipsAnswer.state === "there" ? chipsAnswer.value.note : ""}
        />
      }
    >
      <Pane label="Candidates" line>
        {explained === null ? null : <Strip explained={explained} asked={asked} same={same} current={answered} />}
        {failure === null ? null : (
          <div className="inset over">
            <FailureNote failure={failure} />
          </div>
        )}
        <div className="body scroll">
          {explained === null ? null : (
            <Candidates
              explained={explained}
              toggled={(params.open ?? "").split(" ").filter(Boolean)}
              planOf={(name, of) => planFor(of, name).plan}
              onSource={source}
            />
          )}
        </div>
        {explained === null ? null : <Below explained={explained} />}
      </Pane>
    </Panes>
  );
}

export function DispatchPage(): ReactElement {
  const { params } = useView();
  const answer = useAnswer("cases.list", { suite: "full" });
  const cases = answer.state === "there" ? answer.value.cases : answer.state === "failed" ? [] : undefined;
  const asked = askedOf(params, cases);
  return asked === undefined ? <div className="page" /> : <DispatchView asked={asked} cases={cases ?? []} />;
}
