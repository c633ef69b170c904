/** The page "Members": the list, an invitation, one member by their id. */
import { segments } from "../../app/router.ts";
import { Invite } from "./invite.tsx";
import { MemberList } from "./list.tsx";
import { MemberPage } from "./member-page.tsx";

export function Members() {
  const at = segments.value[2] ?? "";
  if (at === "") return <MemberList />;
  return at === "new" ? <Invite /> : <MemberPage key={at} id={at} />;
}
