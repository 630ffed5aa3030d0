/**
 * Reports as SARIF 2.1.0 (OASIS), which editors and code hosts show. Only what the standard names is used; what it has no
 * place for stands in `properties`.
 */
import { CHECK_KINDS, type CheckReport, type CheckResult, type SiteAccess } from "../../native/check.ts";
import { CHECK_RULES } from "./rules.ts";
import { placeText } from "./text.ts";

const LEVEL: Readonly<Record<CheckReport["severity"], "error" | "warning" | "note">> = {
  error: "error",
  warning: "warning",
  info: "note",
};

interface SarifLocation {
  readonly physicalLocation: {
    readonly artifactLocation: { readonly uri: string; readonly uriBaseId: "%SRCROOT%" };
    readonly region: { readonly startLine: number; readonly startColumn: number };
  };
  readonly message?: { readonly text: string };
}

function locationOf(site: SiteAccess, text?: string): readonly SarifLocation[] {
  const { location } = site;
  if (location === null) return [];
  return [
    {
      physicalLocation: {
        artifactLocation: {
          uri: location.path.split("/").map(encodeURIComponent).join("/"),
          uriBaseId: "%SRCROOT%",
        },
        region: { startLine: location.line, startColumn: location.column },
      },
      ...(text === undefined ? {} : { message: { text } }),
    },
  ];
}

function sideOf({ access, threadgroup, simdgroup, lane, thread }: SiteAccess): object {
  return { access, threadgroup, simdgroup, lane, thread };
}

/** Why a check came to no end; null where it did. */
export function checkFailure(check: CheckResult | null, error: string | null): string | null {
  if (error !== null) return error;
  return check?.complete === true ? null : "The run ended early: what would have happened later was not seen.";
}

/**
 * A SARIF log of one run. Paths are relative to the source root.
 * @param failure why the checker came to no end; null where it did
 */
export function sarifLog(reports: readonly CheckReport[], version: string, failure: string | null): object {
  const used = CHECK_KINDS.filter((kind) => reports.some((report) => report.kind === kind));
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: {
            name: "Lockstep",
            version,
            rules: used.map((kind) => ({
              id: kind,
              shortDescription: { text: CHECK_RULES[kind].title },
              fullDescription: { text: CHECK_RULES[kind].meaning },
              help: { text: `To mend it: ${CHECK_RULES[kind].mend}.` },
            })),
          },
        },
        // A log without results says that nothing was found only if the checker came to its end.
        invocations: [
          {
            executionSuccessful: failure === null,
            ...(failure === null
              ? {}
              : { toolExecutionNotifications: [{ level: "error", message: { text: failure } }] }),
          },
        ],
        columnKind: "utf16CodeUnits",
        results: reports.map((report) => ({
          ruleId: report.kind,
          ruleIndex: used.indexOf(report.kind),
          level: LEVEL[report.severity],
          message: { text: report.message },
          locations: locationOf(report.first),
          ...(report.second === undefined
            ? {}
            : {
                relatedLocations: locationOf(
                  report.second,
                  `${report.second.access}: the other side, ${placeText(report.second)}`,
                ),
              }),
          occurrenceCount: report.count,
          properties: {
            dispatch: report.dispatch,
            addressSpace: report.addressSpace,
            buffer: report.buffer?.name ?? null,
            offset: report.offset,
            size: report.size,
            first: sideOf(report.first),
            second: report.second === undefined ? null : sideOf(report.second),
            mechanism: report.mechanism,
            blindSpot: report.blindSpot,
            execution: "emulated",
          },
        })),
      },
    ],
  };
}
