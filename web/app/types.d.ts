declare module 'swagger-ui-dist/swagger-ui-bundle.js' {
  interface UI {
    authActions: { authorize(schemes: Record<string, object>): void };
    specSelectors: { specJson(): { getIn(path: string[]): unknown } };
  }
  export default function SwaggerUI(options: Record<string, unknown>): UI;
}

declare module 'monaco-graphql/esm/graphql.worker.js?worker' {
  export default class GraphQLWorker extends Worker {
    constructor();
  }
}

interface Window {
  MonacoEnvironment?: { getWorker(id: string, label: string): Worker };
}
