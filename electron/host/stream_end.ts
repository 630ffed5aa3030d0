/** The end of a process's standard error. */

/** Resolves when the stream has ended, failed or was closed; at once where there is none. */
export function streamEnd(stream: NodeJS.ReadableStream | null): Promise<void> {
  if (stream === null) return Promise.resolve();
  return new Promise((resolve) => {
    for (const event of ["end", "close", "error"]) stream.once(event, () => resolve());
  });
}
