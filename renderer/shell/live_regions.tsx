/** What a screen reader is told: progress at most every five seconds, a failure or a crash once and at once. */
import { type ReactElement, useEffect, useRef, useState } from "react";
import { missText } from "../../electron/words.ts";
import { type RunModel, shortCase } from "../state/run_model.ts";
import { useLive } from "../state/session.ts";
import { useStore } from "../state/store.ts";
import { copied } from "./command.ts";

const POLITE_MS = 5000;

function progressText(run: RunModel): string {
  if (run.outcome === "running") return `${run.results.size} of ${run.planned.length} results`;
  return `Run ${run.outcome.replace("_", " ")}`;
}

function useAlarm(run: RunModel | null): string {
  const [alarm, setAlarm] = useState("");
  const told = useRef(new Set<string>());
  useEffect(() => {
    if (run === null) return;
    const tell = (key: string, text: string): void => {
      if (told.current.has(key)) return;
      told.current.add(key);
      setAlarm(text);
    };
    for (const [key, result] of run.results) {
      if (result.verdict === "pass") continue;
      const words = missText(result as Parameters<typeof missText>[0]);
      tell(
        `${run.id} ${key}`,
        `${result.verdict.replace("_", " ")}: ${shortCase(result.case)}, ${result.route}. ${words}`,
      );
    }
    if (run.outcome === "crashed") tell(`${run.id} crashed`, `Crashed: ${run.reason ?? "the host stopped"}`);
  }, [run]);
  return alarm;
}

function usePolite(run: RunModel | null): string {
  const [text, setText] = useState("");
  const last = useRef(0);
  useEffect(() => {
    if (run === null) return;
    const wait = run.outcome === "running" ? Math.max(0, last.current + POLITE_MS - Date.now()) : 0;
    const timer = setTimeout(() => {
      last.current = Date.now();
      setText(progressText(run));
    }, wait);
    return () => clearTimeout(timer);
  }, [run]);
  return text;
}

export function LiveRegions(): ReactElement {
  const run = useLive();
  const copiedText = useStore(copied);
  return (
    <div className="regions">
      <div className="sr" role="status" aria-live="polite" data-live="progress">
        {usePolite(run)}
      </div>
      <div className="sr" aria-live="polite">
        {copiedText}
      </div>
      <div className="sr" role="alert" aria-live="assertive" data-live="alarm">
        {useAlarm(run)}
      </div>
    </div>
  );
}
