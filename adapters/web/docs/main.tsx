import { render } from "preact";
import "../parts/style.css";
import "../parts/code.css";
import "../parts/controls.css";
import "../parts/dialog.css";
import "../parts/frame.css";
import "./shell/shell.css";
import "./description/operation.css";
import "./guides/guide.css";
import "./try/try.css";
import { loadDescription } from "./description/description.js";
import { Shell } from "./shell/shell.js";
import { findSession } from "./try/access.js";

void loadDescription();
void findSession();
const page = document.getElementById("page");
if (page !== null) render(<Shell />, page);
