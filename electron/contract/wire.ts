/** What goes over a channel between a window and the workbench, whichever channel it is. */
import * as z from "zod";
import { type Failure, failureSchema } from "../contract.ts";

/** A pair of ends that carry values in order. Each end takes one listener. */
export interface Channel {
  /** Sends a value. Does nothing once the channel is closed. */
  post(value: unknown): void;
  listen(onValue: (value: unknown) => void): void;
  /** Called once, when either side has closed. */
  onClose(then: (reason: string) => void): void;
  close(reason?: string): void;
}

/** Frames of birpc. A frame of another form closes the channel before birpc sees it. */
export const frameSchema = z.discriminatedUnion("t", [
  z.strictObject({
    t: z.literal("q"),
    m: z.string(),
    a: z.array(z.unknown()),
    i: z.string().optional(),
    o: z.boolean().optional(),
  }),
  z.strictObject({ t: z.literal("s"), i: z.string(), r: z.unknown().optional(), e: z.unknown().optional() }),
]);

/** The answer of a call. A codec would turn a thrown Error into `{}`, so that failures are values. */
export const replySchema = z.union([
  z.strictObject({ value: z.unknown() }),
  z.strictObject({ failure: failureSchema }),
]);
export type Reply = z.infer<typeof replySchema>;

/** Calls and streams share one space of ids, which the client counts up. */
export const idSchema = z.number().int().positive();

/** Items of a stream that may be under way before the receiver has said that it took some. */
export const STREAM_WINDOW = 64;

/** What the workbench's end offers. */
export interface WorkbenchEnd {
  call(id: number, name: string, input: unknown): Promise<Reply>;
  open(id: number, name: string, input: unknown): void;
  /** The receiver took `items` more. */
  taken(id: number, items: number): void;
  /** Ends a call or a stream early. */
  cancel(id: number): void;
}

/** What the window's end offers. */
export interface WindowEnd {
  item(id: number, value: unknown): void;
  /** The last word of a stream. */
  end(id: number, failure: Failure | null): void;
}

/** A failure that came over the channel, or the channel's own. */
export class RemoteError extends Error {
  override readonly name: string;
  /** What to do about it, where that is known. */
  readonly mend: string | undefined;

  constructor(failure: Failure) {
    super(failure.message);
    this.name = failure.name;
    this.mend = failure.mend;
  }
}

const CLOSED = "ConnectionClosed";

/** The failure of everything that is under way when a channel closes. */
export function closedError(reason: string): RemoteError {
  return new RemoteError({
    name: CLOSED,
    message: `The connection to the workbench is closed: ${reason}`,
    mend: "reload the window; if the workbench has ended, start it again",
  });
}

/** An error as it travels. `mend` is taken along where the error has one. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return { name: "Error", message: String(error) };
  const { mend } = error as { readonly mend?: unknown };
  const failure = { name: error.name, message: error.message };
  return typeof mend === "string" ? { ...failure, mend } : failure;
}

/** The first thing that does not fit, in words. */
export function issueText(error: z.ZodError): string {
  const [issue] = error.issues;
  return `${issue?.path.join(".") || "value"}: ${issue?.message ?? "does not fit"}`;
}
