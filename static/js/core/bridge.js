/* For scripts that are no modules yet; goes with the last of them. */
import { newId } from "./ids.js";
import { ask, renewToken, session, token } from "./server.js";
import { toast } from "./toast.js";

window.consilium = Object.assign(window.consilium ?? {}, { toast, renewToken, server: { newId, token, ask, session } });
