/** The command palette: every action of the registry, runs, cases, and an element to go to. */
import { type ReactElement, useEffect, useRef, useState } from "react";
import { Key } from "../parts/button.tsx";
import { Glyph, Icon } from "../parts/glyph.tsx";
import { plural } from "../parts/text.ts";
import { copyText } from "./command.ts";
import { Dialog } from "./dialog.tsx";
import { isMac, keyText } from "./keys.ts";
import { type Match, matchWords } from "./match.ts";
import { type Item, readQuery, SIGNS, useItems } from "./palette_items.ts";

const MAC = isMac(navigator.platform);

/** Items of one section shown at once; more words narrow them down. */
const SHOWN = 40;

/** Copies the command of the selected item. */
const COPY = "mod+shift+c";

/** At most `SHOWN` of each section. */
function shorten(items: readonly Item[]): readonly Item[] {
  const counts = new Map<string, number>();
  return items.filter(({ section }) => {
    const count = (counts.get(section) ?? 0) + 1;
    counts.set(section, count);
    return count <= SHOWN;
  });
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
  const [said, setSaid] = useState("");
  const { sign, text } = readQuery(query);
  const items = useItems(sign, text);
  const match = matchWords(sign === ":" ? "" : text);
  const found = items.filter((item) => match.test(`${item.section} ${item.title} ${item.detail}`));
  const shown = shorten(found);
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

  const copy = async (item: Item | undefined): Promise<void> => {
    if (item === undefined) return;
    if (item.line === null) setSaid("This concerns the window alone: no command does it");
    else setSaid(await copyText(item.line));
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
            setSaid("");
          }}
          onKeyDown={(event) => {
            if (keyText(event, MAC) === COPY) void copy(shown[index]);
            else if (event.key === "ArrowDown") setSelected(Math.min(index + 1, shown.length - 1));
            else if (event.key === "ArrowUp") setSelected(Math.max(index - 1, 0));
            else if (event.key === "Enter") take(shown[index]);
            else return;
            event.preventDefault();
          }}
        />
        <span className="micro t3 nw">
          {sign === ":" ? "an element" : `${plural(items.length, "item")}, ${found.length} match`}
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
                <code className="mono t3 el">{item.detail}</code>
              ) : (
                <span className="micro nw">{item.blocked}</span>
              )}
              {item.stroke === undefined ? null : <Key stroke={item.stroke} />}
            </div>
          </div>
        ))}
        {shown.length === 0 ? <div className="sec">Nothing matches</div> : null}
      </div>
      <div className="ft">
        <span className={said === "" ? "sr" : "sp el"} role="status" aria-live="polite">
          {said}
        </span>
        {said === "" ? <Hints /> : null}
      </div>
    </Dialog>
  );
}

function Hints(): ReactElement {
  return (
    <>
      <span>
        <Key stroke="arrowup" /> <Key stroke="arrowdown" /> select
      </span>
      <span>
        <Key stroke="enter" /> run
      </span>
      <span>
        <Key stroke={COPY} /> copy its command
      </span>
      <span className="sp" />
      <span className="nw">
        {Object.entries(SIGNS).map(([sign, word]) => (
          <span key={sign}>
            <b className="m t2">{sign}</b> {word}&ensp;
          </span>
        ))}
      </span>
    </>
  );
}
