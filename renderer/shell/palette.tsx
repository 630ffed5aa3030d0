/** The command palette: every action of the registry, the runs and the cases at hand. */
import { type ReactElement, useEffect, useMemo, useRef, useState } from "react";
import { PAGE_IDS } from "../../electron/actions.ts";
import { Key } from "../parts/button.tsx";
import { Glyph, Icon } from "../parts/glyph.tsx";
import { entryGlyph, entrySummary } from "../parts/run_entry.ts";
import type { GlyphName, IconName } from "../parts/sprite.tsx";
import { plural, runName } from "../parts/text.ts";
import { shortCase } from "../state/run_model.ts";
import { useLive, useRuns } from "../state/session.ts";
import { go } from "../state/view.ts";
import { type ListedAction, listActions, perform } from "./actions.ts";
import { Dialog } from "./dialog.tsx";
import { type Match, matchWords } from "./match.ts";

interface Item {
  readonly id: string;
  readonly section: string;
  readonly title: string;
  readonly detail: string;
  readonly stroke: string | undefined;
  readonly blocked: string | undefined;
  readonly glyph: GlyphName | undefined;
  readonly icon: IconName;
  readonly run: () => void;
}

const SECTION_ICONS: Readonly<Record<string, IconName>> = {
  Run: "run",
  Evidence: "evidence",
  List: "gates",
  Window: "theme",
};

function actionItem({ action, blocked }: ListedAction): Item {
  const page = PAGE_IDS.find((id) => action.id === `page.${id}`);
  return {
    id: action.id,
    section: action.section,
    title: action.title,
    detail: action.command === null ? "" : `lockstep ${action.command}`,
    stroke: action.keys[0],
    blocked,
    glyph: undefined,
    icon: page ?? SECTION_ICONS[action.section] ?? "run",
    run: () => void perform(action.id),
  };
}

/** Items shown at once; more words narrow them down. */
const SHOWN = 60;

function useItems(sign: string): readonly Item[] {
  const runs = useRuns();
  const live = useLive();
  return useMemo(() => {
    const items: Item[] = [];
    if (sign === "" || sign === ">") items.push(...listActions().map(actionItem));
    if (sign === "" || sign === "#") {
      for (const entry of runs ?? []) {
        items.push({
          id: `run ${entry.id}`,
          section: "Runs",
          title: runName(entry.id),
          detail: entrySummary(entry),
          stroke: undefined,
          blocked: entry.state === "bad" ? "no bundle" : undefined,
          glyph: entryGlyph(entry),
          icon: "run",
          run: () => go("run", { run: entry.id }),
        });
      }
    }
    if (sign === "@" && live !== null) {
      for (const { case: key, route } of live.planned) {
        items.push({
          id: `case ${key} ${route}`,
          section: "Cases of the last run",
          title: `${shortCase(key)}, ${route}`,
          detail: "",
          stroke: undefined,
          blocked: undefined,
          glyph: undefined,
          icon: "parity",
          run: () => go("run", { run: live.id, sel: `${key}|${route}` }),
        });
      }
    }
    return items;
  }, [sign, runs, live]);
}

function Title({ title, match }: { readonly title: string; readonly match: Match }): ReactElement {
  return (
    <span className="el">
      {match.parts(title).map((part, index) =>
        // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text have no other name.
        part.hit ? <mark key={index}>{part.text}</mark> : <span key={index}>{part.text}</span>,
      )}
    </span>
  );
}

export function Palette({ onClose }: { readonly onClose: () => void }): ReactElement {
  const [query, setQuery] = useState("");
  const [selected, setSelected] = useState(0);
  const sign = /^[>#@]/.exec(query)?.[0] ?? "";
  const items = useItems(sign);
  const match = matchWords(query.slice(sign.length));
  const found = items.filter((item) => match.test(`${item.section} ${item.title} ${item.detail}`));
  const shown = found.slice(0, SHOWN);
  const index = Math.min(selected, shown.length - 1);
  const list = useRef<HTMLDivElement | null>(null);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the selected row is read from the page.
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [index]);

  const take = (item: Item | undefined): void => {
    if (item === undefined || item.blocked !== undefined) return;
    onClose();
    // After the overlay has closed, so that focus goes where the action puts it.
    setTimeout(item.run, 0);
  };

  return (
    <Dialog label="Command palette" className="pal" onClose={onClose}>
      <div className="q">
        <Icon name="search" />
        <input
          type="text"
          autoFocus
          spellCheck={false}
          autoComplete="off"
          placeholder="Go to or run"
          aria-label="Go to or run"
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={shown[index] === undefined ? undefined : `palette-${index}`}
          value={query}
          onChange={(event) => {
            setQuery(event.target.value);
            setSelected(0);
          }}
          onKeyDown={(event) => {
            if (event.key === "ArrowDown") setSelected(Math.min(index + 1, shown.length - 1));
            else if (event.key === "ArrowUp") setSelected(Math.max(index - 1, 0));
            else if (event.key === "Enter") take(shown[index]);
            else return;
            event.preventDefault();
          }}
        />
        <span className="micro t3 nw">
          {plural(items.length, "item")}, {found.length} match
        </span>
      </div>
      <div className="items" id="palette-list" role="listbox" aria-label="Actions" ref={list}>
        {shown.map((item, at) => (
          <div key={item.id} role="presentation">
            {at === 0 || shown[at - 1]!.section !== item.section ? <div className="sec">{item.section}</div> : null}
            {/* biome-ignore lint/a11y/useKeyWithClickEvents: keys are taken by the field above. */}
            <div
              id={`palette-${at}`}
              role="option"
              tabIndex={-1}
              aria-selected={at === index}
              aria-disabled={item.blocked !== undefined}
              className={`it${at === index ? " sel" : ""}${item.blocked === undefined ? "" : " off"}`}
              onClick={() => take(item)}
              onMouseMove={() => setSelected(at)}
            >
              {item.glyph === undefined ? <Icon name={item.icon} size={15} /> : <Glyph name={item.glyph} />}
              <Title title={item.title} match={match} />
              <span className="sp" />
              {item.blocked === undefined ? (
                <code className="mono t3">{item.detail}</code>
              ) : (
                <span className="micro">{item.blocked}</span>
              )}
              {item.stroke === undefined ? null : <Key stroke={item.stroke} />}
            </div>
          </div>
        ))}
        {shown.length === 0 ? <div className="sec">Nothing matches</div> : null}
      </div>
      <div className="ft">
        <span>
          <Key stroke="arrowup" /> <Key stroke="arrowdown" /> select
        </span>
        <span>
          <Key stroke="enter" /> run
        </span>
        <span className="sp" />
        <span>
          <b className="m t2">&gt;</b> actions&ensp;<b className="m t2">@</b> cases&ensp;<b className="m t2">#</b> runs
        </span>
      </div>
    </Dialog>
  );
}
