/** A Redis whose settings could lose what it acknowledged, or that does not tell them, is refused when a cell starts. */
import { describe, expect, test } from "vitest";
import { missingRedis } from "../../../../support/redis-server.ts";
import { openBench } from "../fixtures.ts";

const missing = missingRedis();

describe.skipIf(missing !== undefined)(
  `settings of Redis${missing === undefined ? "" : `: ${missing}`}`,
  () => {
    const refusal = async (...settings: string[]): Promise<string> => {
      const bench = await openBench([], settings);
      const answer = await bench.cell("a").then(
        () => "",
        (error: Error) => error.message,
      );
      // Nothing of the cell is in the dataset.
      expect(await bench.link.call("EXISTS", "{weir}:lives")).toBe(answer === "" ? 1 : 0);
      await bench.close();
      return answer;
    };

    test("those that are asked for are taken", async () => {
      expect(await refusal("--maxmemory", "100mb")).toBe("");
    });

    test.each([
      ["appendonly", "no", "yes"],
      ["appendfsync", "everysec", "always"],
      ["appendfsync", "no", "always"],
      ["maxmemory-policy", "allkeys-lru", "noeviction"],
      ["maxmemory-policy", "volatile-ttl", "noeviction"],
    ])("%s %s is refused by its name", async (name, value, wanted) => {
      expect(await refusal(`--${name}`, value)).toBe(
        `Redis has ${name} ${value}: set it to ${wanted}, or money could be lost`,
      );
    });

    test.each([
      ["the user may not", "--user default on nopass ~* &* +@all -config".split(" "), /NOPERM/],
      ["it was renamed", ["--rename-command", "CONFIG", ""], /unknown command/],
    ])(
      "a Redis that refuses CONFIG because %s is refused, and the line says what to do",
      async (_, settings, why) => {
        const line = await refusal(...settings);
        expect(line).toMatch(/^Redis does not tell its settings \(.*\): allow this user CONFIG GET\b/);
        expect(line).toMatch(why);
        expect(line).not.toContain("\n");
      },
    );
  },
);
