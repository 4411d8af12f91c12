import { render } from "preact";
import "../parts/style.css";
import "uplot/dist/uPlot.min.css";
import "../parts/chart.css";
import "../parts/controls.css";
import "../parts/dialog.css";
import "../parts/table.css";
import "./console.css";
import "./jobs/timeline.css";
import "./overview/overview.css";
import "../parts/frame.css";
import "./shell/shell.css";
import "./webhooks/deliveries.css";
import { App } from "./app.js";

const page = document.getElementById("page");
if (page !== null) render(<App />, page);
