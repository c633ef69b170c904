/** Names of files and their types. */
import { describe, expect, test } from "vitest";
import { fileName, fileType } from "../../../../src/wire/media/file-names.ts";
import { Source } from "../../../../src/wire/neutral/source.ts";

const PDF = "application/pdf";

describe("a file", () => {
  test.each([
    ["a.pdf", PDF],
    ["a.b.PDF", PDF],
    ["a.htm", "text/html"],
    ["a.xls", "application/vnd.ms-excel"],
    ["pdf", ""],
    ["a.exe", ""],
    ["", ""],
  ])("named %j is %j", (name, type) => expect(fileType(name)).toBe(type));

  test.each([
    ["Report", PDF, "Report.pdf"],
    ["Report.txt", PDF, "Report.txt.pdf"],
    ["Report.PDF", PDF, "Report.PDF"],
    ["page.htm", "text/html", "page.htm"],
    ["page", "text/html", "page.html"],
    ["log", "text/x-log", "log"],
    ["a", "application/x-unknown", "a"],
    ["", PDF, "document.pdf"],
    [undefined, PDF, "document.pdf"],
    [undefined, "text/x-log", "document.txt"],
    [undefined, "application/x-unknown", "document"],
  ])("named %j of type %s is told as %j", (name, type, told) => expect(fileName(name, type)).toBe(told));

  test("of a name that a mark stands for keeps it", () => {
    const body = Buffer.from(JSON.stringify({ name: "n".repeat(9) }));
    const { name } = new Source(body, [{ start: 9, end: 18 }]).value as { name: string };
    expect(fileName(name, PDF)).toBe(name);
  });
});
