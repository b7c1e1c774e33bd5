declare module 'swagger-ui-dist/swagger-ui-bundle.js' {
  interface UI {
    authActions: { authorizeOauth2(grant: { auth: object; token: object }): void };
    specSelectors: { specJson(): { getIn(path: string[]): { toJS(): object } | undefined } };
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

declare module '*.graphql?raw' {
  const text: string;
  export default text;
}
