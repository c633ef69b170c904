/** The newest keys of a project: what uses it. */
import type { Row, ShownList } from "../../api/answers.ts";
import { mayCall } from "../../app/session.ts";
import { Link } from "../../parts/link.tsx";
import { Panel } from "../../parts/panel.tsx";
import { ListTable } from "../../parts/table.tsx";
import { KEY_COLUMNS } from "../keys/key-columns.tsx";
import type { Project } from "./project-values.ts";

interface ProjectKeysProps {
  readonly of: Project;
  readonly list: ShownList<Row<"listKeys">>;
}

export const ProjectKeys = ({ of: { id }, list }: ProjectKeysProps) => (
  <Panel
    title="Keys"
    actions={
      <Link to={["keys"]} filters={{ project_id: id }}>
        Their spend, limits and use
      </Link>
    }
  >
    <ListTable
      label="Keys of the project"
      list={list}
      keyOf={(key) => key.id}
      columns={KEY_COLUMNS}
      empty={
        <p>
          No key is in this project
          {mayCall("createKey") ? (
            <>
              : <Link to={["keys", "new"]}>make one</Link>.
            </>
          ) : (
            "."
          )}
        </p>
      }
    />
  </Panel>
);
