import {
  type AdditionalProps,
  fetchMiddlewares,
  type TsoaRoute,
  ValidateError,
  ValidationService,
} from "@tsoa/runtime";
import type { Request, RequestHandler, Response, Router } from "express";
import type { ControllerClass, ControllerSource } from "./deps.js";

/** An operation of a controller, as `routes.hbs` writes it. */
interface GeneratedRoute {
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  readonly path: string;
  /** One scheme, with what the operation needs of a caller. */
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly controller: ControllerClass;
  readonly action: string;
  readonly parameters: readonly TsoaRoute.ParameterSchema[];
  readonly successStatus: number | undefined;
}

/** What tsoa generates of all controllers of an API. */
export interface GeneratedApi {
  readonly models: TsoaRoute.Models;
  readonly options: AdditionalProps;
  readonly routes: readonly GeneratedRoute[];
}

/**
 * What an API does before anything else of a request is looked at.
 *
 * @param needs what the operation needs of a caller
 * @returns who calls
 */
export type AuthenticateCaller = (request: Request, needs: readonly string[], response: Response) => Promise<unknown>;

/** Read all the time, and therefore looked at first: Express compares a request with one route after another. */
const OFTEN_READ: readonly string[] = [
  "/api/v1/jobs/:job_id",
  "/api/v1/generations/:id",
  "/api/v1/generations",
  "/api/v1/credits",
  "/api/v1/me",
  "/api/v1/models",
];

type Action = (...values: readonly unknown[]) => unknown;

/**
 * Serves the operations of all controllers of an API: authentication, middlewares, validation, controller, response.
 * The templates of tsoa do the same with several promises more, and a controller for each request.
 */
export function serveRoutes(
  router: Router,
  { models, options, routes }: GeneratedApi,
  authenticate: AuthenticateCaller,
  controllers: ControllerSource,
): void {
  const validation = new ValidationService(models, options);
  const often = routes.filter(({ path }) => OFTEN_READ.includes(path));
  const others = routes.filter(({ path }) => !OFTEN_READ.includes(path));
  for (const route of [...often, ...others]) {
    const { method, path, controller: Controller, action: name } = route;
    const controller = controllers.get(Controller) as Readonly<Record<string, Action>>;
    const action = controller[name] as Action;
    router[method](
      path,
      authentication(route, authenticate),
      ...fetchMiddlewares<RequestHandler>(Controller),
      ...fetchMiddlewares<RequestHandler>(action),
      async (request, response) => {
        const values = valuesOf(route.parameters, validation, request);
        respond(response, await action.apply(controller, values), route.successStatus);
      },
    );
  }
}

function authentication({ security }: GeneratedRoute, authenticate: AuthenticateCaller): RequestHandler {
  const needs = Object.values(security[0] ?? {})[0] ?? [];
  return async (request, response, next) => {
    (request as Request & { user?: unknown }).user = await authenticate(request, needs, response);
    next();
  };
}

/** @throws {ValidateError} naming each parameter that is not what its operation declares */
function valuesOf(
  parameters: readonly TsoaRoute.ParameterSchema[],
  validation: ValidationService,
  request: Request,
): unknown[] {
  const issues: ConstructorParameters<typeof ValidateError>[0] = {};
  // Express parses it again whenever it is asked.
  let query: Request["query"] | undefined;
  const values = parameters.map((parameter) => {
    const { in: place, name } = parameter;
    const checked = (value: unknown, isBody = false): unknown =>
      validation.ValidateParam(parameter, value, name, issues, isBody, undefined);
    switch (place) {
      case "request":
        return request;
      case "query":
        return checked((query ??= request.query)[name]);
      case "path":
        return checked(request.params[name]);
      case "header":
        return checked(request.header(name));
      case "body":
        return checked(request.body, true);
      default:
        throw new Error(`A controller takes a parameter from ${place}, which is not served.`);
    }
  });
  if (Object.keys(issues).length > 0) throw new ValidateError(issues, "");
  return values;
}

/** @param data undefined: the response has no body, or the controller has sent it */
function respond(response: Response, data: unknown, successStatus: number | undefined): void {
  if (response.headersSent) return;
  if (data === undefined) {
    response.statusCode = successStatus ?? 204;
    response.end();
  } else {
    response.statusCode = successStatus ?? 200;
    response.json(data);
  }
}
