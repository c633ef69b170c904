/** Our own format of rankings: `POST /v1/svc/rerank`. */
import { WHOLE_ONLY } from "../embed/task.ts";
import type { ClientFormat } from "../format.ts";
import type { RerankRequest } from "./neutral.ts";
import { promptTexts, readRerankRequest } from "./request.ts";

export const rerankFormat: ClientFormat<RerankRequest> = {
  ...WHOLE_ONLY,
  name: "rerank",
  key: "rerank",
  task: "rerank",
  idPrefix: "",
  promptAt: "/documents",
  read: readRerankRequest,
  promptTexts,
  splice: undefined,
};
