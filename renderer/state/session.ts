/** What the window knows of its workbench: the connection, the live run, the host, the list of runs, answers once asked. */
import { createContext, useContext, useEffect, useMemo, useState } from "react";
import type { Workbench } from "../../electron/contract/connect.ts";
import { RemoteError } from "../../electron/contract/wire.ts";
import type { CallInput, CallName, CallOutput, StartRequest, StreamItem } from "../../electron/contract.ts";
import { type Item, type RunModel, reduce } from "./run_model.ts";
import { createStore, type Store, useStore } from "./store.ts";

export type RunEntryView = CallOutput<"runs.list">["runs"][number];
export type HostStateView = StreamItem<"host.state">;
export type VerifyItem = StreamItem<"evidence.verifying">;
export type VerificationView = Extract<VerifyItem, { type: "done" }>["verification"];
export type VerifyProgressView = Extract<VerifyItem, { type: "progress" }>;
export type OpenedView = StreamItem<"bundle.opened">["bundles"][number];
export type NoteView = CallOutput<"notes.list">["notes"][number];

/** What this window knows of the verification of a bundle. */
export type VerifiedView =
  | { readonly state: "waiting" }
  | { readonly state: "running"; readonly progress: VerifyProgressView }
  | { readonly state: "done"; readonly verification: VerificationView }
  | { readonly state: "failed"; readonly failure: FailureView };

/** What can be said of a failed request. */
export interface FailureView {
  readonly name: string;
  readonly message: string;
  readonly mend: string | undefined;
}

export function failureView(error: unknown): FailureView {
  if (error instanceof RemoteError) return { name: error.name, message: error.message, mend: error.mend };
  if (error instanceof Error) return { name: error.name, message: error.message, mend: undefined };
  return { name: "Error", message: String(error), mend: undefined };
}

export interface Session {
  readonly workbench: Workbench;
  /** The run that goes on, or the last one of this workbench. */
  readonly live: Store<RunModel | null>;
  readonly host: Store<HostStateView | null>;
  /** Null until the list has come. */
  readonly runs: Store<readonly RunEntryView[] | null>;
  /** Why the connection has gone; null while it is there. */
  readonly closed: Store<string | null>;
  /** The last request that failed, for the window to show. */
  readonly failure: Store<FailureView | null>;
  /** Verifications that this window has asked for, by id. */
  readonly verified: Store<ReadonlyMap<string, VerifiedView>>;
  /** Bundles from elsewhere, read-only. */
  readonly opened: Store<readonly OpenedView[]>;
  /** A bundle that the shell opened and the window should go to; null once it has. */
  readonly shown: Store<string | null>;
  /** What was written about runs, by id. */
  readonly notes: Store<ReadonlyMap<string, NoteView>>;
  refreshRuns(): Promise<void>;
  /** Resolves with the id of the run; undefined where it could not begin, which `failure` then says. */
  startRun(request: StartRequest): Promise<string | undefined>;
  /** Id of the run that was asked to end: what it is at, a compilation for example, is still finished. */
  readonly cancelling: Store<string | null>;
  cancelRun(): Promise<void>;
  /** Pauses after the running case, or goes on. */
  pauseRun(paused: boolean): Promise<void>;
  /** Skips the case that runs. */
  skipCase(): Promise<void>;
  verify(id: string): Promise<void>;
  /** Gives a verification up; the bundle is unverified again. */
  stopVerifying(id: string): void;
  /** Writes or removes a note. False where it was not kept, which `failure` then says. */
  writeNote(id: string, text: string): Promise<boolean>;
  refreshNotes(): Promise<void>;
  /** Does `work` and reports its failure. Undefined where it failed. */
  attempt<T>(work: () => Promise<T>): Promise<T | undefined>;
  /** Answers that do not change while the workbench lives are asked for once. */
  once<Name extends CallName>(name: Name, input: CallInput<Name>): Promise<CallOutput<Name>>;
}

/** Gathers items until the next frame, so that a fast run costs one change of the page for each frame. */
function perFrame<T>(take: (items: readonly T[]) => void): (item: T) => void {
  let waiting: T[] = [];
  const flush = (): void => {
    const items = waiting;
    waiting = [];
    take(items);
  };
  return (item) => {
    waiting.push(item);
    if (waiting.length > 1) return;
    // A hidden page has no frames.
    if (document.hidden) setTimeout(flush, 100);
    else requestAnimationFrame(flush);
  };
}

export function startSession(workbench: Workbench): Session {
  const live = createStore<RunModel | null>(null);
  const cancelling = createStore<string | null>(null);
  const host = createStore<HostStateView | null>(null);
  const runs = createStore<readonly RunEntryView[] | null>(null);
  const closed = createStore<string | null>(null);
  const failure = createStore<FailureView | null>(null);
  const verified = createStore<ReadonlyMap<string, VerifiedView>>(new Map());
  const opened = createStore<readonly OpenedView[]>([]);
  const shown = createStore<string | null>(null);
  const notes = createStore<ReadonlyMap<string, NoteView>>(new Map());
  const verifying = new Map<string, AbortController>();
  const answers = new Map<string, Promise<unknown>>();

  const report = (error: unknown): void => {
    if (closed.get() === null) failure.set(failureView(error));
  };

  const refreshRuns = async (): Promise<void> => {
    try {
      runs.set((await workbench.call("runs.list", {})).runs);
    } catch (error) {
      // Pages wait for a list; `failure` says why this one is empty.
      runs.set((before) => before ?? []);
      report(error);
    }
  };

  const take = perFrame<Item>((items) => {
    live.set((before) => items.reduce<RunModel | null>(reduce, before));
    if (items.some((item) => item.type !== "event")) void refreshRuns();
  });

  const followRuns = async (): Promise<void> => {
    for await (const item of workbench.stream("runs.events", {})) take(item);
  };
  const followHost = async (): Promise<void> => {
    for await (const state of workbench.stream("host.state", {})) host.set(state);
  };
  const followOpened = async (): Promise<void> => {
    for await (const { bundles, shown: next } of workbench.stream("bundle.opened", {})) {
      // An id may come back with other files behind it.
      const ids = new Set(bundles.map(({ entry }) => entry.id));
      const gone = opened.get().filter(({ entry }) => !ids.has(entry.id));
      for (const { entry } of gone) forget(entry.id);
      opened.set(bundles);
      if (next !== null) shown.set(next);
    }
  };

  /** Drops everything that was answered about a bundle. */
  const forget = (id: string): void => {
    verified.set((before) => new Map([...before].filter(([key]) => key !== id)));
    for (const key of answers.keys()) if (key.includes(JSON.stringify(id))) answers.delete(key);
  };

  let starting: Promise<CallOutput<"runs.start"> | undefined> | undefined;

  const attempt = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      failure.set(null);
      return await work();
    } catch (error) {
      report(error);
      return undefined;
    }
  };

  const refreshNotes = async (): Promise<void> => {
    await workbench.call("notes.list", {}).then((answer) => {
      notes.set(new Map(answer.notes.map((note) => [note.id, note])));
    }, report);
  };

  const verify = async (id: string): Promise<void> => {
    verifying.get(id)?.abort();
    const controller = new AbortController();
    verifying.set(id, controller);
    const put = (value: VerifiedView | null): void => {
      if (verifying.get(id) !== controller) return;
      verified.set((before) => {
        const after = new Map(before);
        if (value === null) after.delete(id);
        else after.set(id, value);
        return after;
      });
    };
    put({ state: "waiting" });
    try {
      for await (const item of workbench.stream("evidence.verifying", { id }, { signal: controller.signal })) {
        if (item.type === "progress") put({ state: "running", progress: item });
        else put({ state: "done", verification: item.verification });
      }
      if (controller.signal.aborted) put(null);
    } catch (error) {
      put({ state: "failed", failure: failureView(error) });
    }
    if (verifying.get(id) === controller) verifying.delete(id);
  };

  workbench.onClose((reason) => closed.set(reason));
  followRuns().catch(report);
  followHost().catch(report);
  followOpened().catch(report);
  void refreshRuns();
  void refreshNotes();

  return {
    workbench,
    live,
    host,
    runs,
    closed,
    failure,
    verified,
    opened,
    shown,
    notes,
    refreshRuns,
    cancelling,
    startRun: async (request) => {
      // A double click is one wish.
      starting ??= attempt(() => workbench.call("runs.start", request)).finally(() => {
        starting = undefined;
      });
      return (await starting)?.id;
    },
    cancelRun: async () => {
      const run = live.get();
      if (run?.outcome !== "running") return;
      cancelling.set(run.id);
      await workbench.call("runs.cancel", { id: run.id }).catch((error: unknown) => {
        cancelling.set(null);
        report(error);
      });
    },
    pauseRun: async (paused) => {
      const run = live.get();
      if (run?.outcome === "running") await workbench.call("runs.pause", { id: run.id, paused }).catch(report);
    },
    skipCase: async () => {
      const run = live.get();
      if (run?.outcome !== "running" || run.step === null) return;
      await workbench.call("runs.skip", { id: run.id, case: run.step.case }).catch(report);
    },
    verify,
    stopVerifying: (id) => verifying.get(id)?.abort(),
    writeNote: async (id, text) => {
      const was = notes.get().get(id)?.changedAt ?? null;
      const answer = await attempt(() => workbench.call("notes.write", { id, text, was }));
      if (answer !== undefined) await refreshNotes();
      return answer !== undefined;
    },
    refreshNotes,
    attempt,
    once: <Name extends CallName>(name: Name, input: CallInput<Name>) => {
      const key = `${name} ${JSON.stringify(input)}`;
      const asked = answers.get(key) as Promise<CallOutput<Name>> | undefined;
      if (asked !== undefined) return asked;
      const answer = workbench.call(name, input);
      answers.set(key, answer);
      // A failure may pass; the next one who asks tries again.
      answer.catch(() => answers.delete(key));
      return answer;
    },
  };
}

export const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error("There is no session around this component.");
  return session;
}

export function useLive(): RunModel | null {
  return useStore(useSession().live);
}

/** The list of runs; of the one that goes on with the counts that the live run has. */
export function useRuns(): readonly RunEntryView[] | null {
  const session = useSession();
  const runs = useStore(session.runs);
  const live = useStore(session.live);
  return useMemo(
    () =>
      runs?.map((entry) =>
        entry.state === "running" && live?.id === entry.id
          ? { ...entry, planned: live.planned.length, finished: live.results.size }
          : entry,
      ) ?? null,
    [runs, live],
  );
}

export function useHost(): HostStateView | null {
  return useStore(useSession().host);
}

export type Answer<T> =
  | { readonly state: "asking" }
  | { readonly state: "there"; readonly value: T }
  | { readonly state: "failed"; readonly failure: FailureView };

/** The answer of a call, asked for once in a session. A null input asks nothing. */
export function useAnswer<Name extends CallName>(name: Name, input: CallInput<Name> | null): Answer<CallOutput<Name>> {
  const session = useSession();
  const key = input === null ? null : `${name} ${JSON.stringify(input)}`;
  const [known, setKnown] = useState<{ readonly key: string; readonly answer: Answer<CallOutput<Name>> } | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` stands for name and input.
  useEffect(() => {
    if (key === null || input === null) return;
    let wanted = true;
    session.once(name, input).then(
      (value) => wanted && setKnown({ key, answer: { state: "there", value } }),
      (error: unknown) => wanted && setKnown({ key, answer: { state: "failed", failure: failureView(error) } }),
    );
    return () => {
      wanted = false;
    };
  }, [session, key]);
  return known !== null && known.key === key ? known.answer : { state: "asking" };
}
