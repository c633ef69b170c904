/** Roles: what each opens, which it may grant, which scopes its holder has. */

import { describe, expect, test } from "vitest";
import { mayAs, mayGrantRole, ROLES, scopesOf } from "../../../src/account/roles.ts";
import { LEAST, SCOPES } from "../../../src/base/operation/access.ts";

describe("a role", () => {
  test.each([
    ["owner", "owner admin member billing viewer everyone"],
    ["admin", "admin member billing viewer everyone"],
    ["billing", "billing everyone"],
    ["member", "member viewer everyone"],
    ["viewer", "viewer everyone"],
  ] as const)("opens its levels and no other: %s", (role, opened) => {
    expect(LEAST.filter((least) => mayAs(role, least)).join(" ")).toBe(opened);
  });

  test.each([
    ["owner", "owner admin billing member viewer"],
    ["admin", "admin billing member viewer"],
    ["billing", "billing"],
    ["member", "member viewer"],
    ["viewer", "viewer"],
  ] as const)("grants none above its own: %s", (actor, granted) => {
    expect(ROLES.filter((role) => mayGrantRole(actor, role)).join(" ")).toBe(granted);
  });

  test("holds its scopes and no other", () => {
    expect(scopesOf("owner")).toEqual(SCOPES);
    expect(scopesOf("admin")).toEqual(SCOPES);
    expect(scopesOf("member").join(" ")).toBe(
      "inference read:usage read:catalog read:billing read:keys write:keys read:org read:policies write:policies",
    );
    expect(scopesOf("billing").join(" ")).toBe("read:billing write:billing read:org");
    expect(scopesOf("viewer").join(" ")).toBe(
      "read:usage read:catalog read:billing read:keys read:org read:policies",
    );
  });

  test("writes nothing as a viewer, and reads payloads as owner or admin only", () => {
    expect(scopesOf("viewer").filter((scope) => !scope.startsWith("read:"))).toEqual([]);
    expect(ROLES.filter((role) => scopesOf(role).includes("read:payloads"))).toEqual(["owner", "admin"]);
  });
});
