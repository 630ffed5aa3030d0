/** Lines of Metal's validation, as they were seen in public: what each is taken for, and what must not be taken for silence. */
import { describe, expect, it } from "vitest";
import { droppedLine, markLine, readValidation } from "../../../electron/validation/lines.ts";

const NSLOG = "2024-10-17 16:40:59.867 lockstep[17424:9358094] ";
const BANNERS = `${NSLOG}Metal API Validation Enabled\n${NSLOG}Metal GPU Validation Enabled\n`;
const STORE =
  'Invalid device store at offset 128000, executing kernel function: "gqa_scores"\nbuffer: scores, length:1024, resident:Read Write\n';

describe("what is read", () => {
  it("that both layers are on, with and without what NSLog puts before it", () => {
    expect(readValidation(BANNERS)).toMatchObject({
      enabled: { api: true, shader: true },
      counts: { lines: 2, errors: 0, unclear: 0, unknown: 0 },
      reports: [],
    });
    expect(readValidation("Metal API Validation Enabled\n").enabled).toEqual({ api: true, shader: false });
    expect(readValidation("").enabled).toEqual({ api: false, shader: false });
  });

  it("an access out of bounds, with its kernel and the line that names the buffer", () => {
    const [report, ...rest] = readValidation(`${BANNERS}${STORE}`).reports;
    expect(rest).toEqual([]);
    expect(report).toMatchObject({
      form: "invalid_access",
      severity: "error",
      layer: "shader",
      kernel: "gqa_scores",
      line: 3,
      times: 1,
    });
    expect(report?.text).toContain("buffer: scores, length:1024");
  });

  it("the same in the middle of another line, which the layer does not wait for", () => {
    const { counts } = readValidation(`half a line of somebody: ${STORE}`);
    expect(counts.errors).toBe(1);
  });

  it("a failed assertion to its closing quote, and the kernel in it", () => {
    const text =
      "-[MTLDebugComputeCommandEncoder _validateThreadsPerThreadgroup:]:1310: failed assertion `(threadsPerThreadgroup.width(1024))(1024) must be <= 768. (kernel threadgroup size limit)'\n" +
      "validateComputeFunctionArguments:1066: failed assertion `Dispatch Validation\n" +
      "Compute Function(kernel_set_rows): Read-only bytes are being bound at index 2'\n" +
      "something else\n";
    const { reports, counts, unknown } = readValidation(text);
    expect(reports.map(({ form, layer, kernel }) => [form, layer, kernel])).toEqual([
      ["failed_assertion", "api", null],
      ["failed_assertion", "api", "kernel_set_rows"],
    ]);
    expect(reports[1]?.text).toContain("Read-only bytes");
    expect(counts).toMatchObject({ errors: 2, unknown: 1, lines: 4 });
    expect(unknown).toEqual([{ line: 4, text: "something else" }]);
  });

  it("an error that is logged and not asserted, by its heading or by the class of the debug layer", () => {
    const { reports } = readValidation(
      `${NSLOG}End Encoding Validation\n${NSLOG}-[MTLDebugDevice newBuffer]: too long\n`,
    );
    expect(reports.map(({ form, severity }) => [form, severity])).toEqual([
      ["validation_heading", "error"],
      ["debug_class", "error"],
    ]);
  });

  it("whose line it is, by the marks of the host; equal lines of one result are counted, not repeated", () => {
    const text = `${STORE}${markLine("case/a", "naive")}${STORE}${STORE}${markLine("case/a", "fused")}${STORE}${markLine("case/b", null)}${STORE}`;
    const { reports, counts } = readValidation(text);
    expect(reports.map(({ at, times }) => [at?.route ?? null, times])).toEqual([
      [null, 2],
      ["naive", 2],
      ["fused", 1],
    ]);
    expect(counts.errors).toBe(5);
  });
});

describe("what is not silence", () => {
  it("is not Metal's word that another process uses its cache", () => {
    const lock =
      "flock failed to lock list file (/var/folders/x/C//com.apple.metal/31001/libraries.list): errno = 35\n";
    expect(readValidation(`${BANNERS}${NSLOG}${lock}`).counts).toMatchObject({ unclear: 0, unknown: 0, errors: 0 });
  });

  it("a line of Metal's that no form knows is unclear, and kept", () => {
    const { reports, counts } = readValidation("MTLSomethingNew: resource 12 was touched\n");
    expect(reports).toMatchObject([
      { form: "none", severity: "unclear", text: expect.stringContaining("resource 12") },
    ]);
    expect(counts).toMatchObject({ unclear: 1, unknown: 0 });
  });

  it("what found no room is counted", () => {
    expect(readValidation(`${BANNERS}${droppedLine(7)}`).counts.dropped).toBe(7);
    const many = Array.from(
      { length: 2100 },
      (_, index) => `Invalid device load at offset ${index}, executing kernel function: "k"\n`,
    );
    const { counts, reports } = readValidation(many.join(""));
    expect(reports).toHaveLength(2000);
    expect(counts).toMatchObject({ errors: 2100, dropped: 100 });
  });

  it("a word that is no mark moves nothing", () => {
    const { reports } = readValidation(`lockstep-at {"case": 1}\n${STORE}lockstep-at nonsense\n${STORE}`);
    expect(reports.map(({ at }) => at)).toEqual([null]);
  });

  it("reads the same text the same way twice", () => {
    const text = `${BANNERS}${markLine("c", "r")}${STORE}what is this\n`;
    expect(readValidation(text)).toEqual(readValidation(text));
  });
});
