/** Columns of keys on pages of what they belong to: a project, a person. */
import type { Row } from "../../api/answers.ts";
import { Link } from "../../parts/link.tsx";
import { Badge } from "../../parts/note.tsx";
import type { Column } from "../../parts/table.tsx";
import { When } from "../../parts/when.tsx";
import { STATUS_TONES } from "./key-words.ts";

export const KEY_COLUMNS: readonly Column<Row<"listKeys">>[] = [
  {
    head: "Name",
    cell: ({ id, name, hint }) => (
      <>
        <Link to={["keys", id]} class="break">
          {name}
        </Link>
        <div class="small quiet">
          <code>{hint}</code>
        </div>
      </>
    ),
  },
  {
    head: "Status",
    cell: ({ status, environment }) => (
      <span class="row">
        <Badge tone={STATUS_TONES[status]}>{status}</Badge>
        {environment === "test" && <Badge>test</Badge>}
      </span>
    ),
  },
  {
    head: "Last used",
    cell: ({ last_used_at: at }) =>
      at === undefined ? <span class="quiet">never</span> : <When at={at} as="day" />,
  },
  { head: "Made", cell: ({ created_at: at }) => <When at={at} as="day" /> },
];
