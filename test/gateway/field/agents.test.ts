/**
 * Requests of coding agents as they really sent them (test/fixtures/agents/README.md), to every dialect: each call of the history
 * arrives with its result, and each tool of the client's is offered.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { offeredTools, spokenCalls } from "../../support/agents/spoken.ts";
import type { Json } from "../../support/conformance/ask.ts";
import { type Kind, kinds } from "../../support/field/kinds.ts";

const FOLDER = join(import.meta.dirname, "../../fixtures/agents/codex");

function kindOf(file: string): Kind {
  const { model: _, stream: __, ...body }: Json = JSON.parse(readFileSync(join(FOLDER, file), "utf8"));
  const called = spokenCalls("responses", body);
  const offered = offeredTools("responses", body).map(({ name }) => name);
  return {
    name: file.replace(".json", ""),
    ask: { responses: body },
    check({ dialect, up }) {
      expect(called.length).toBeGreaterThan(0);
      const told = spokenCalls(dialect, up.json);
      expect(told.map(({ result }) => result !== undefined)).toEqual(called.map(() => true));
      const names = offeredTools(dialect, up.json).map(({ name }) => name);
      for (const name of offered) {
        expect(
          names.some((one) => one.endsWith(name)),
          `${name} is among ${names}`,
        ).toBe(true);
      }
    },
  };
}

kinds("requests of Codex", readdirSync(FOLDER).map(kindOf));
