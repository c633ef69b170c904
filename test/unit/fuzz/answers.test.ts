/** Damaged whole answers of every dialect: refused with a typed error, or told to the client as JSON. */
import { beforeAll, describe } from "vitest";
import type { Dialect } from "../../../src/base/endpoint.ts";
import { NO_USAGE } from "../../../src/base/usage.ts";
import { countAnswer } from "../../../src/wire/count.ts";
import type { FormatName } from "../../../src/wire/format.ts";
import { FORMATS } from "../../../src/wire/formats.ts";
import { readErrorBody } from "../../../src/wire/neutral/upstream-error.ts";
import {
  ANSWERED,
  checkFacts,
  endpointsOf,
  IDENTITY,
  isJson,
  must,
  objectIn,
  typed,
  UPSTREAMS_FAULT,
  wayTo,
} from "../../support/fuzz/rules.ts";
import {
  answerSeeds,
  EMBEDDING,
  GENERATION,
  otherAnswers,
  RERANKING,
  SPLICED,
} from "../../support/fuzz/seeds.ts";
import { CLIENTS, requestOf } from "./asked.ts";
import { family, type Round } from "./harness.ts";
import { damagedBody, pick } from "./mutations.ts";

/** One damaged body, and what the client gets of it. */
function answer(
  round: Round,
  seeds: readonly string[],
  dialect: Dialect,
  names: readonly FormatName[],
): boolean {
  const { random } = round;
  const body = Buffer.from(round.damaged(damagedBody, seeds), "latin1");
  const { code, type, message } = readErrorBody(body, pick(random, ["", "Kind:http://x", ":"]));
  must(
    [code, type, message].every((word) => typeof word === "string"),
    "errors are texts",
  );
  const tokens = countAnswer(dialect, body);
  must(tokens === undefined || (Number.isSafeInteger(tokens) && tokens > 0), `counted ${tokens}`);
  const name = pick(random, names);
  const format = FORMATS[name];
  const request = requestOf(name, random);
  const passage = wayTo(format, pick(random, endpointsOf(dialect)));
  const whole = typed(UPSTREAMS_FAULT, format, () => passage?.whole(body, request, IDENTITY));
  if (whole === undefined || whole.error !== undefined) return false;
  checkFacts(whole.facts);
  const bytes = whole.write(whole.facts.usage ?? NO_USAGE, ANSWERED);
  if (!isJson(body)) return true;
  const written = objectIn(bytes);
  must(written.model === IDENTITY.model, `the model is ${written.model}`);
  return true;
}

describe("whole answers", () => {
  let found: ReadonlyMap<Dialect, readonly string[]>;
  beforeAll(async () => {
    found = await answerSeeds(false);
  });

  for (const dialect of GENERATION) {
    family(`answers of ${dialect}`, 0.3, (round) =>
      answer(round, found.get(dialect) ?? [], dialect, CLIENTS),
    );
  }

  for (const dialect of SPLICED) {
    family(`answers of ${dialect}`, 0.3, (round) =>
      answer(round, found.get(dialect) ?? [], dialect, [dialect]),
    );
  }

  for (const name of ["embeddings", "embed", "rerank"] as const) {
    family(`answers to ${name}`, 0.02, (round) => {
      const dialect = pick(round.random, name === "rerank" ? RERANKING : EMBEDDING);
      return answer(round, otherAnswers(name, dialect), dialect, [name]);
    });
  }
});
