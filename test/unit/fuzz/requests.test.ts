/** Damaged requests of every format: refused with a typed error, or told to every upstream as JSON. */
import { describe } from "vitest";
import type { Endpoint } from "../../../src/base/endpoint.ts";
import { countable, countQuestion } from "../../../src/wire/count.ts";
import {
  type ClientFormat,
  type ClientRequest,
  type FormatName,
  NO_ORG_KEY,
} from "../../../src/wire/format.ts";
import { FORMATS } from "../../../src/wire/formats.ts";
import { Source } from "../../../src/wire/neutral/source.ts";
import {
  CLIENTS_FAULT,
  endpointsOf,
  isJson,
  must,
  objectIn,
  typed,
  wayTo,
} from "../../support/fuzz/rules.ts";
import { EMBEDDING, GENERATION, RERANKING, requestSeeds, SPLICED } from "../../support/fuzz/seeds.ts";
import { family } from "./harness.ts";
import { damagedBody, pick } from "./mutations.ts";

const DIALECTS_OF = { generate: GENERATION, embed: EMBEDDING, rerank: RERANKING };

function checkRead({ facts, svc }: ClientRequest, format: ClientFormat): void {
  const { promptTokens, maxTokens, choices, imageCount, searchUnits, longestTokens = 0 } = facts;
  const counts = [promptTokens, choices, imageCount, searchUnits, longestTokens, maxTokens ?? 0];
  must(
    counts.every((count) => Number.isSafeInteger(count) && count >= 0),
    `counts: ${counts}`,
  );
  must(facts.model !== "" && typeof svc === "object", "read without a model");
  must(format.task !== "generate" || choices > 0, "no choices");
}

/** The request told to an endpoint; undefined where it cannot be told there. */
function tell(format: ClientFormat, request: ClientRequest, to: Endpoint): void {
  const passage = wayTo(format, to);
  must(passage !== undefined, "no way there");
  const written = typed(CLIENTS_FAULT, format, () => passage.write(request, to));
  if (written === undefined) return;
  if (!isJson(request.bytes)) return;
  const body = objectIn(Buffer.concat(written.parts));
  const isPlain = to.provider.quirks.bodies === undefined;
  if (isPlain && to.dialects[0] === format.splice?.dialect) {
    must(body.model === to.upstreamModel, `the model is ${body.model}`);
  }
  must(!("svc" in body), "our options went upstream");
  must(
    written.dropped.every((pointer) => pointer.startsWith("/")),
    `no pointers: ${written.dropped}`,
  );
  const [dialect] = to.dialects;
  if (dialect !== undefined && format.task === "generate") {
    typed(CLIENTS_FAULT, format, () => {
      const question = countQuestion(format, dialect, request, to, NO_ORG_KEY);
      if (question !== undefined && isJson(request.bytes)) objectIn(Buffer.concat(question));
    });
  }
}

function checkHistory(format: ClientFormat, request: ClientRequest): void {
  const { history } = format;
  if (history === undefined) return;
  const items = history.itemsAfter(request, '{"output":[{"type":"message","content":[]}]}');
  const list: unknown = JSON.parse(`[${items}]`);
  must(Array.isArray(list), "items are a list");
  const body = history.expand(request, '{"type":"x"}');
  objectIn(body);
  typed(CLIENTS_FAULT, format, () => history.continuing(format.read(body), request, "p-fuzz"));
}

describe("requests", () => {
  for (const name of Object.keys(FORMATS) as FormatName[]) {
    const format = FORMATS[name];
    const seeds = requestSeeds(name);
    const own = SPLICED.filter((dialect) => dialect === name);
    const endpoints = [...own, ...DIALECTS_OF[format.task]].flatMap(endpointsOf);
    family(`requests of ${name}`, 0.03, (round) => {
      const { random } = round;
      const bytes = Buffer.from(round.damaged(damagedBody, seeds), "latin1");
      const request = typed(CLIENTS_FAULT, format, () => format.read(bytes));
      if (request === undefined) return false;
      checkRead(request, format);
      const texts = format.promptTexts(request);
      must(
        texts.every((said) => typeof said === "string"),
        "prompts are texts",
      );
      typed(CLIENTS_FAULT, format, () => countable(format, request));
      tell(format, request, pick(random, endpoints));
      tell(format, request, pick(random, endpoints));
      if (!isJson(bytes)) return true;
      checkHistory(format, request);
      const source = new Source(request.bytes, request.elided);
      const back = JSON.stringify(source.wholeValue(source.value));
      must(back === JSON.stringify(JSON.parse(bytes.toString())), "a source is another value");
      must(request.bytes.equals(Buffer.from(round.input, "latin1")), "the request was changed");
      return true;
    });
  }
});
