/** The conformance cases of the chat format over every upstream dialect. */
import { conformance } from "./suite.ts";

conformance("chat");
