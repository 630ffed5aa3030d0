/** Small texts of the window: times of day, durations, digests, shapes. Pure. */
import type { CaseRecord } from "../state/run_model.ts";

/** `14:05` today, `06-12` before. */
export function whenText(iso: string, now: Date = new Date()): string {
  const time = new Date(iso);
  const two = (value: number): string => String(value).padStart(2, "0");
  if (time.toDateString() === now.toDateString()) return `${two(time.getHours())}:${two(time.getMinutes())}`;
  return `${two(time.getMonth() + 1)}-${two(time.getDate())}`;
}

/** `0:48`, `1:02:03`. */
export function clockText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const two = (value: number): string => String(value).padStart(2, "0");
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}:${two(seconds % 60)}`;
  return `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)}`;
}

/** The first eight digits of a digest. */
export function shortDigest(digest: string): string {
  return digest.slice(0, 8);
}

/** `a81f 0c22 … 7e90`. */
export function digestText(digest: string): string {
  return `${digest.slice(0, 4)} ${digest.slice(4, 8)} … ${digest.slice(-4)}`;
}

/** `18.2 MiB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const units = ["KiB", "MiB", "GiB"];
  let value = bytes / 1024;
  let unit = 0;
  for (; value >= 1024 && unit < units.length - 1; unit++) value /= 1024;
  return `${value.toPrecision(3)} ${units[unit]}`;
}

export function countText(count: number): string {
  return count.toLocaleString("en-US");
}

/** `1 case`, `14 cases`. */
export function plural(count: number, noun: string): string {
  return `${countText(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** A run's id without what every id has: `quick 11-29 21:12:38`. The time is that of the id, UTC. */
export function runName(id: string): string {
  const match = /^\d{4}-(\d\d)-(\d\d)t(\d\d)(\d\d)(\d\d)z-(.+)\.lockstep$/.exec(id);
  if (match === null) return id.replace(/\.lockstep$/, "");
  const [, month, day, hour, minute, second, rest] = match;
  return `${rest} ${month}-${day} ${hour}:${minute}:${second}`;
}

type Shape = CaseRecord["shape"];

/** `L 33`, or `T 13 of 77`. */
export function lengthText(shape: Shape): string {
  if (shape.operator === "gqa_decode") return `L ${countText(shape.live)}`;
  const queries = shape.cuSeqlensQ.at(-1) ?? 0;
  const keys = shape.cuSeqlensK.at(-1) ?? 0;
  return queries === keys ? `T ${countText(queries)}` : `T ${countText(queries)} of ${countText(keys)}`;
}

/** `32/4/512` for decode (heads, KV heads, width), `4 h, 128+64/128` for prefill (nope + rope / value). */
export function geometryText(shape: Shape): string {
  return shape.operator === "gqa_decode"
    ? `${shape.heads}/${shape.kvHeads}/${shape.dim}`
    : `${shape.heads} h, ${shape.nope}+${shape.rope}/${shape.value}`;
}

/** Where the inputs come from: a generator's variant, the case's name in its file, or the file's stem. */
export function originText(key: string): string {
  const origin = key.split("/").slice(3, -1).join("/");
  const dot = origin.indexOf(".");
  return dot < 0 ? origin : origin.slice(dot + 1);
}
