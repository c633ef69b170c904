/** The page "Projects": the list, a new project, one project by its id. */
import { segments } from "../../app/router.ts";
import { ProjectList } from "./list.tsx";
import { NewProject } from "./new-project.tsx";
import { ProjectPage } from "./project-page.tsx";

export function Projects() {
  const at = segments.value[2] ?? "";
  if (at === "") return <ProjectList />;
  return at === "new" ? <NewProject /> : <ProjectPage key={at} id={at} />;
}
