/** What a screen reader is told: progress at most every five seconds, a failure or a crash once and at once. */
import { type ReactElement, useEffect, useRef, useState } from "react";
import type { RunModel } from "../state/run_model.ts";
import { useLive } from "../state/session.ts";
import { useStore } from "../state/store.ts";
import { newsOf, progressText } from "./alarms.ts";
import { copied } from "./command.ts";

const POLITE_MS = 5000;

function useAlarm(run: RunModel | null): string {
  const [alarm, setAlarm] = useState("");
  const told = useRef(new Set<string>());
  const followed = useRef<string | null>(null);
  useEffect(() => {
    if (run === null) return;
    const { keys, text } = newsOf(run, told.current);
    for (const key of keys) told.current.add(key);
    // A run that had ended before this window opened is no news.
    if (run.outcome !== "running" && followed.current !== run.id) return;
    followed.current = run.id;
    if (text !== "") setAlarm(text);
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
