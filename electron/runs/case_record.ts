/** A case as the record has it, before and after it was materialised. */
import type { Case } from "../cases/case.ts";
import type { CaseInputs } from "../cases/inputs.ts";
import type { CaseRecord } from "./record.ts";
import type { Reference } from "./reference.ts";

/** A case as the record has it before it was materialised. */
export function plannedCaseRecord(testCase: Case): CaseRecord {
  return {
    key: testCase.key,
    shape: shapeRecord(testCase),
    source: testCase.source,
    boundary: testCase.boundary,
    inputs: [],
    oracle: null,
  };
}

function shapeRecord(testCase: Case): CaseRecord["shape"] {
  const { shape } = testCase;
  if (shape.operator === "gqa_decode") return { ...shape };
  const { cuSeqlensQ, cuSeqlensK, qOffset } = shape;
  return { ...shape, cuSeqlensQ: [...cuSeqlensQ], cuSeqlensK: [...cuSeqlensK], qOffset: [...qOffset] };
}

/** The same with what its inputs and the oracle turned out to be. */
export function preparedCaseRecord(testCase: Case, inputs: CaseInputs, reference: Reference): CaseRecord {
  return {
    ...plannedCaseRecord(testCase),
    inputs: [...inputs.facts],
    oracle: {
      implementation: "lockstep.float64/1",
      sha256: reference.sha256,
      conditioning: reference.conditioning,
      storedReference: inputs.stored !== undefined,
      ms: reference.ms,
    },
  };
}
