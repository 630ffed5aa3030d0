import { describe, expect, it } from "vitest";
import { allocationProblem } from "../../../native/metal/allocation.ts";
import { commandBufferFailure } from "../../../native/metal/failure.ts";
import { logLabel, logLine, timingOf } from "../../../native/metal/submission.ts";
import { readVersion } from "../../../native/metal/toolchain.ts";

describe("commandBufferFailure", () => {
  const DOMAIN = "MTLCommandBufferErrorDomain";
  const which = "Dispatch 'scores' (1 of 3)";

  it.each([
    [2, "timed_out", "held the GPU for too long"],
    [3, "crashed", "lies outside its buffer"],
    [8, "unavailable", "too little memory"],
    [12, "crashed", "more stack"],
    [99, "crashed", "Metal gives no reason that is known"],
  ] as const)("code %i is %s", (code, as, words) => {
    const error = commandBufferFailure(which, { words: "Caused a GPU error", domain: DOMAIN, code }, []);
    expect(error.code).toBe(as);
    expect(error.message).toContain(words);
    expect(error.message).toContain(`Metal's words (${DOMAIN} ${code}): Caused a GPU error`);
  });

  it.each([
    [
      1,
      "Impacting Interactivity (0000000e:kIOGPUCommandBufferCallbackErrorImpactingInteractivity)",
      "timed_out",
      "display",
    ],
    [
      1,
      "Discarded (victim of GPU error/recovery) (00000005:kIOGPUCommandBufferCallbackErrorInnocentVictim)",
      "unavailable",
      "run it again",
    ],
    [1, "Discarded (victim of GPU error/recovery) (IOAF code 5)", "unavailable", "run it again"],
    [1, "Internal Error (00000102:Internal Error)", "crashed", "internal error"],
    [2, "Caused GPU Hang Error (00000003:kIOGPUCommandBufferCallbackErrorHang)", "timed_out", "too long"],
    [3, "Caused GPU Address Fault Error (0000000b:kIOGPUCommandBufferCallbackErrorPageFault)", "crashed", "outside"],
    [
      4,
      "Ignored (for causing prior/excessive GPU errors) (00000004:kIOGPUCommandBufferCallbackErrorSubmissionsIgnored)",
      "unavailable",
      "start the process again",
    ],
    [
      8,
      "Insufficient Memory (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)",
      "unavailable",
      "too little memory",
    ],
  ] as const)("code %i, as macOS words it: %s", (code, metal, as, words) => {
    const error = commandBufferFailure(which, { words: metal, domain: DOMAIN, code }, []);
    expect(error.code).toBe(as);
    expect(error.message).toContain(words);
    expect(error.message).toContain(metal);
  });

  it("reads codes of no other domain", () => {
    const error = commandBufferFailure(which, { words: "no", domain: "NSPOSIXErrorDomain", code: 2 }, []);
    expect(error.code).toBe("crashed");
  });

  it("says what became of the encoders", () => {
    const error = commandBufferFailure(which, { words: "Page fault", domain: DOMAIN, code: 3 }, ["scores: faulted"]);
    expect(error.message).toBe(
      "Dispatch 'scores' (1 of 3) failed: the GPU touched memory that is not there: an access lies outside its buffer. " +
        "Encoders: scores: faulted. Metal's words (MTLCommandBufferErrorDomain 3): Page fault",
    );
  });
});

describe("timingOf", () => {
  const buffer = { gpuStart: 10, gpuEnd: 10.000_25 };

  it("takes the counters, and keeps the command buffer beside them", () => {
    expect(timingOf("scores", { ...buffer, counterNs: 240_000, counterProblem: null })).toEqual({
      label: "scores",
      ns: 240_000,
      clock: "stage_boundary_counters",
      commandBufferNs: 250_000,
    });
  });

  it("takes the command buffer where there are no counters, with Metal's reason", () => {
    expect(timingOf("scores", { ...buffer, counterNs: null, counterProblem: "the sample is not valid" })).toEqual({
      label: "scores",
      ns: 250_000,
      clock: "command_buffer",
      clockReason: "the sample is not valid",
    });
  });

  it("invents no time", () => {
    expect(() => timingOf("scores", undefined)).toThrow("no times of dispatch 'scores'");
  });
});

describe("log lines", () => {
  const line = { level: 3, subsystem: "", category: "", message: "hello" };

  it("have the level of os_log, and nothing that Metal does not tell", () => {
    expect(logLine(line, "scores")).toEqual({ level: "default", label: "scores", message: "hello" });
    expect([1, 2, 3, 4, 5, 0].map((level) => logLine({ ...line, level }, "").level)).toEqual([
      "debug",
      "info",
      "default",
      "error",
      "fault",
      "default",
    ]);
    const named = { ...line, subsystem: "net.kernel", category: "tiles" };
    expect(logLine(named, "scores")).toMatchObject({ subsystem: "net.kernel", category: "tiles" });
  });

  it("are cut at 511 bytes, between characters", () => {
    expect(logLine({ ...line, message: "a".repeat(600) }, "").message).toHaveLength(511);
    const wide = logLine({ ...line, message: `${"a".repeat(510)}ß` }, "").message;
    expect(wide).toBe("a".repeat(510));
  });

  it("name every dispatch that may have logged them", () => {
    expect(logLabel(["scores"])).toBe("scores");
    expect(logLabel(["scores", "scores"])).toBe("scores");
    expect(logLabel(["scores", "merge"])).toBe("one of scores, merge");
  });
});

describe("allocationProblem", () => {
  const limits = { maxBufferBytes: 1000, recommendedMaxWorkingSetBytes: 1500 };

  it("lets through what fits", () => {
    expect(allocationProblem(1000, "k", limits, () => 500)).toBeUndefined();
    expect(allocationProblem(1000, "k", { ...limits, recommendedMaxWorkingSetBytes: 0 }, () => 500)).toBeUndefined();
  });

  it.each([
    [0, 0, "needs at least 1"],
    [1.5, 0, "needs at least 1"],
    [1001, 0, "is 1,001 bytes; the largest buffer of this device is 1,000 (maxBufferLength)"],
    [
      1000,
      501,
      "is 1,000 bytes, 1,501 with the 501 allocated before; this device recommends 1,500 at most (recommendedMaxWorkingSetSize)",
    ],
  ])("refuses %d bytes after %d", (bytes, before, words) => {
    expect(allocationProblem(bytes, "k", limits, () => before)).toContain(`Buffer 'k' `);
    expect(allocationProblem(bytes, "k", limits, () => before)).toContain(words);
  });
});

it("a dispatch for which Metal gave no command buffer was not run, and no kernel crashed", () => {
  const words = "Metal gave no command buffer";
  expect(commandBufferFailure("Dispatch 'a' (1 of 2)", { words, domain: "lockstep", code: 1 }, [])).toMatchObject({
    code: "unavailable",
    message: "Dispatch 'a' (1 of 2) was not run. Metal gave no command buffer",
  });
  // The kernel ran, and its command buffer failed without a reason.
  expect(commandBufferFailure("Dispatch 'a'", { words, domain: "lockstep", code: 0 }, []).code).toBe("crashed");
});

describe("readVersion", () => {
  it("takes the first line of what the compiler says of itself", () => {
    const stdout = "Apple metal version 32023.620 (metalfe-32023.620)\nTarget: air64-apple-darwin24.5.0\n";
    expect(readVersion({ status: 0, stdout, stderr: "" })).toEqual({
      version: "Apple metal version 32023.620 (metalfe-32023.620)",
    });
  });

  it("keeps the words of a failure", () => {
    const stderr = "error: cannot execute tool 'metal' due to missing Metal Toolchain\n";
    expect(readVersion({ status: 1, stdout: "", stderr })).toEqual({
      reason: "xcrun metal --version failed: error: cannot execute tool 'metal' due to missing Metal Toolchain",
    });
    expect(readVersion({ status: 0, stdout: "", stderr: "" })).toEqual({
      reason: "xcrun metal --version failed: exit status 0",
    });
  });
});
