/** E-mail addresses: which are accepted, how they are read, when two are the same. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  emailField,
  emailNormalForm,
  optionalEmailField,
  sameEmail,
} from "../../../../src/account/fields/email.ts";
import { accepts, faults, reads } from "../field-faults.ts";

const LONGEST = `${"l".repeat(64)}@${"d".repeat(63)}.${"d".repeat(63)}.${"d".repeat(58)}.te`;

describe("an e-mail address", () => {
  test.each([
    ["a@b.co", "a@b.co"],
    [" Asha.Rao+bills@Example.CO.IN ", "Asha.Rao+bills@example.co.in"],
    ["o'brien@example.com", "o'brien@example.com"],
    ["owner@localhost.test", "owner@localhost.test"],
    ["x@xn--h2brj9c.xn--p1ai", "x@xn--h2brj9c.xn--p1ai"],
    ["x@1and1.com", "x@1and1.com"],
    [LONGEST, LONGEST],
  ])("is read with its domain in lower case: %#", (given, read) => {
    expect(reads(emailField, given)).toBe(read);
  });

  const ONE_AT = ": an e-mail address has one @, such as name@example.com";
  const LOCAL = ": before the @ stand letters, digits and signs, without spaces, quotes, or dots at the ends";
  const DOT = ": after the @ stands a domain with a dot, such as example.com";
  const DOMAIN = ": after the @ stands a domain such as example.com, an international one in its xn-- form";
  test.each([
    ["", ONE_AT],
    ["name", ONE_AT],
    ["@example.com", ONE_AT],
    ["a@b@example.com", ONE_AT],
    ["a b@example.com", LOCAL],
    ['"a"@example.com', LOCAL],
    [".a@example.com", LOCAL],
    ["a.@example.com", LOCAL],
    ["a..b@example.com", LOCAL],
    ["a\r\nBcc:x@example.com", LOCAL],
    ["a\u0000@example.com", LOCAL],
    ["a,b@example.com", LOCAL],
    ["a<b>@example.com", LOCAL],
    ["é@example.com", LOCAL],
    ["a@localhost", DOT],
    ["a@example..com", DOMAIN],
    ["a@example.com.", DOMAIN],
    ["a@-example.com", DOMAIN],
    ["a@exam ple.com", DOMAIN],
    ["a@exam_ple.com", DOMAIN],
    ["a@192.168.0.1", DOMAIN],
    ["a@[192.168.0.1]", DOMAIN],
    ["a@münchen.de", DOMAIN],
    ["a@\u212aexample.com", DOMAIN],
    [`${"l".repeat(65)}@example.com`, ": what stands before the @ has at most 64 characters"],
    [`a${LONGEST}`, ": an e-mail address has at most 254 characters"],
    [`${"x".repeat(1001)}`, ": an e-mail address has at most 254 characters"],
  ])("is refused with what is wrong: %#", (given, message) => {
    expect(faults(emailField, given)).toEqual([message]);
  });

  test("may be empty where it is optional", () => {
    expect(reads(optionalEmailField, " ")).toBe("");
    expect(faults(optionalEmailField, "name")).toEqual([ONE_AT]);
  });

  test("that is accepted has no character that ends a header line or begins another address", () => {
    const pieces = [
      "\r\n",
      "\n",
      " ",
      "\t",
      '"',
      "<",
      ">",
      ",",
      ";",
      ":",
      "@",
      "\u0000",
      "\u2028",
      "\u212a",
      ".",
    ];
    const good = "asha.rao@mail.example.com";
    fc.assert(
      fc.property(fc.constantFrom(...pieces), fc.nat(good.length), (piece, at) => {
        const given = good.slice(0, at) + piece + good.slice(at);
        if (accepts(emailField, given)) {
          expect(reads(emailField, given)).toMatch(/^[a-z.]+@[a-z.]+$/);
          // Spaces at the ends are taken away; a dot may stand inside.
          expect(piece === "." || at === 0 || at === good.length).toBe(true);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  test("is the same in another case, but not with a character that Unicode lowers to a letter", () => {
    expect(sameEmail("Asha@Example.com", " asha@EXAMPLE.com")).toBe(true);
    expect(sameEmail("asha@example.com", "asha+x@example.com")).toBe(false);
    const kelvin = "\u212aim@example.com";
    expect(kelvin.toLowerCase()).toBe("kim@example.com");
    expect(sameEmail(kelvin, "kim@example.com")).toBe(false);
    expect(emailNormalForm("A@B.C")).toBe("a@b.c");
  });
});
