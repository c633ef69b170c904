/** Who is in the org, and who is invited. Search and role are in the address. */
import { useState } from "preact/hooks";
import { useAct } from "../../api/act.ts";
import { useAnswer } from "../../api/answers.ts";
import { call } from "../../api/call.ts";
import { useFilterText } from "../../app/filter-text.ts";
import { filter, go, pageAddress, setFilters } from "../../app/router.ts";
import { mayCall, me, org, orgSlug, role } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Choice, TextField } from "../../parts/field.tsx";
import { Link } from "../../parts/link.tsx";
import { Badge, FaultNote, Waiting } from "../../parts/note.tsx";
import { Page, Panel } from "../../parts/panel.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { When } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";
import {
  found,
  inOrder,
  isWaiting,
  type Member,
  nameOf,
  STATUS_TONES,
  STATUS_WORDS,
} from "./member-words.ts";
import { mayGive } from "./role-words.ts";
import { SentAgain } from "./sent-again.tsx";

/** Rows of the page; a search finds the others. */
const MOST = 200;
const ROLES = ["owner", "admin", "billing", "member", "viewer"] as const;

const [q, wantedRole] = [filter("q"), filter("role")];

export function MemberList() {
  const list = useAnswer("listMembers", { params: { org: org.value?.id ?? "" } });
  const act = useAct();
  const all = list.value.value?.data;
  const [sentTo, setSentTo] = useState("");
  const again = (id: string) =>
    act.run(async () => {
      setSentTo("");
      const { email } = await call("inviteAgain", { params: { org: org.value?.id ?? "", user: id } });
      setSentTo(email);
      list.refresh();
    });
  return (
    <Page
      title="Members"
      about="Who is in the organisation, and as what. Whoever is invited is no member until they accept."
      actions={mayCall("addMember") && <InviteButton />}
    >
      <Panel title="People" actions={<Filters />}>
        <FaultNote fault={list.fault.value} onRetry={list.refresh} />
        <FaultNote fault={act.fault} />
        {sentTo !== "" && <SentAgain to={sentTo} />}
        {all === undefined && list.fault.value === undefined && <Waiting />}
        {all !== undefined && <Found all={all} isBusy={act.isBusy} onAgain={again} />}
      </Panel>
    </Page>
  );
}

const InviteButton = () => (
  <Button kind="main" onClick={() => go(pageAddress(orgSlug.value, ["members", "new"]))}>
    Invite somebody
  </Button>
);

function Filters() {
  const [text, setText] = useFilterText("q");
  return (
    <search class="filters" aria-label="Members">
      <TextField label="Name or e-mail" type="search" value={text} onValue={setText} maxLength={100} />
      <Choice
        label="Role"
        value={wantedRole.value}
        onValue={(value) => setFilters({ role: value })}
        options={[["", "All"], ...ROLES.map((each) => [each, each] as const)]}
      />
    </search>
  );
}

interface FoundProps {
  readonly all: readonly Member[];
  readonly isBusy: boolean;
  readonly onAgain: (id: string) => void;
}

function Found({ all, isBusy, onAgain }: FoundProps) {
  const rows = inOrder(found(all, q.value, wantedRole.value));
  if (rows.length === 0) {
    return (
      <div class="empty">
        <p>No one is like this.</p>
        <Button onClick={() => setFilters({ q: undefined, role: undefined })}>Show everybody</Button>
      </div>
    );
  }
  const mayAgain = mayCall("inviteAgain") && rows.some(isWaiting);
  return (
    <>
      <Table
        label="Members"
        columns={mayAgain ? [...COLUMNS, againColumn(isBusy, onAgain)] : COLUMNS}
        rows={rows.slice(0, MOST)}
        keyOf={(member) => member.user_id}
      />
      {rows.length > MOST && (
        <p class="quiet small">
          {MOST} of {format.value.count(rows.length)} are shown: search for others.
        </p>
      )}
    </>
  );
}

const COLUMNS: readonly Column<Member>[] = [
  {
    head: "Name",
    cell: (member) => (
      <>
        <Link to={["members", member.user_id]} class="break">
          {nameOf(member)}
        </Link>
        <div class="row small quiet">
          {nameOf(member) !== member.email && <span class="break">{member.email}</span>}
          {member.user_id === me.value?.user.id && <Badge>you</Badge>}
        </div>
      </>
    ),
  },
  { head: "Role", cell: (member) => member.role },
  {
    head: "State",
    cell: ({ status, is_managed: isManaged }) => (
      <span class="row">
        <Badge tone={STATUS_TONES[status]}>{STATUS_WORDS[status]}</Badge>
        {isManaged && <Badge>by the directory</Badge>}
      </span>
    ),
  },
  { head: "Since", cell: ({ since }) => <When at={since} as="day" /> },
  {
    head: "Can accept until",
    cell: ({ invitation, status }) =>
      status === "invited" && invitation?.expires_at != null ? (
        <When at={invitation.expires_at} as="day" />
      ) : (
        <span class="quiet">–</span>
      ),
  },
];

const againColumn = (isBusy: boolean, onAgain: (id: string) => void): Column<Member> => ({
  head: "Invitation",
  cell: (member) =>
    member.invitation !== undefined && mayGive(role.value, member.role) ? (
      <Button isBusy={isBusy} onClick={() => onAgain(member.user_id)}>
        Send again
      </Button>
    ) : null,
});
