// Ready questions on this graph, by domain. A test on the server validates each
// against the schema.
import { lastDays, lastMonth } from '../format/span';

export interface Example {
  name: string;
  about: string;
  needs: string[];
  query: string;
  /** The variables, by days and months of the zone. */
  variables: (timeZone: string) => object;
}

const none = () => ({});

export const groups: { name: string; examples: Example[] }[] = [
  {
    name: 'Fleet',
    examples: [
      {
        name: 'Fleet overview',
        about: 'How many subscribers are in which state',
        needs: ['VIEW_SUBSCRIBER'],
        query: `query FleetOverview {
  company {
    name
    fleet {
      total
      active
      online
      transferring
      barred
    }
  }
}
`,
        variables: none,
      },
      {
        name: 'Subscribers with most usage',
        about: 'The largest of the current billing period',
        needs: ['VIEW_SUBSCRIBER'],
        query: `query LargestSubscribers($first: Int = 20) {
  subscribers(first: $first, orderBy: [{ field: DATA_USAGE, direction: DESC }]) {
    nodes {
      nickname
      physicalId
      operatorName
      dataUsage
    }
  }
}
`,
        variables: () => ({ first: 20 }),
      },
      {
        name: 'Silent devices',
        about: 'Active, not barred, and no data this period',
        needs: ['VIEW_SUBSCRIBER'],
        query: `query SilentDevices {
  subscribers(
    first: 100
    filter: {
      isActive: { eq: true }
      isBarred: { eq: false }
      dataUsage: { eq: 0 }
    }
  ) {
    totalCount
    nodes {
      physicalId
      nickname
      operatorName
      tariffName
      networkState {
        isOnline
      }
    }
  }
}
`,
        variables: none,
      },
      {
        name: 'Tags',
        about: 'Tags and how many subscribers carry each',
        needs: ['VIEW_SUBSCRIBER'],
        query: `query Tags {
  tags(first: 50) {
    nodes {
      name
      numberOfSubscribers
    }
  }
}
`,
        variables: none,
      },
      {
        name: 'Contracts that end soon',
        about: 'Active subscribers by the end of their contract',
        needs: ['VIEW_SUBSCRIBER'],
        query: `query ContractsThatEnd($until: DateTime!) {
  subscribers(
    first: 100
    filter: { isActive: { eq: true }, expiryDate: { lt: $until } }
    orderBy: [{ field: EXPIRY_DATE }]
  ) {
    totalCount
    nodes {
      physicalId
      nickname
      tariffName
      expiryDate
    }
  }
}
`,
        variables: () => ({ until: new Date(Date.now() + 90 * 86_400_000).toISOString() }),
      },
    ],
  },
  {
    name: 'Usage',
    examples: [
      {
        name: 'Top talkers',
        about: 'Subscribers with the most usage last month',
        needs: ['VIEW_STATISTICS_OVERVIEW', 'VIEW_SUBSCRIBER'],
        query: `query TopTalkers($from: DateTime, $to: DateTime, $first: Int! = 25) {
  company {
    usage(start: $from, end: $to) {
      topSubscribers(first: $first) {
        subscriber {
          nickname
          physicalId
        }
        mobileTerminated
        mobileOriginated
        total
      }
    }
  }
}
`,
        variables: (timeZone) => ({ ...lastMonth(timeZone), first: 25 }),
      },
      {
        name: 'Usage over time',
        about: 'Sent and received, by hour, day or month',
        needs: ['VIEW_STATISTICS_OVERVIEW'],
        query: `query UsageOverTime($from: DateTime, $to: DateTime, $interval: UsageInterval! = DAY) {
  company {
    usage(start: $from, end: $to) {
      series(interval: $interval) {
        start
        mobileTerminated
        mobileOriginated
      }
    }
  }
}
`,
        variables: (timeZone) => ({ ...lastDays(30, timeZone), interval: 'DAY' }),
      },
      {
        name: 'Usage by group over time',
        about: 'Each day of last month, with all other groups together',
        needs: ['VIEW_STATISTICS_OVERVIEW'],
        query: `query UsageByGroupOverTime($from: DateTime, $to: DateTime, $by: UsageDimension! = GROUP, $interval: UsageInterval! = DAY) {
  company {
    usage(start: $from, end: $to) {
      seriesBy(by: $by, interval: $interval, first: 7) {
        label
        isOthers
        points {
          start
          total
        }
      }
    }
  }
}
`,
        variables: (timeZone) => ({ ...lastMonth(timeZone), by: 'GROUP', interval: 'DAY' }),
      },
      {
        name: 'Usage by protocol',
        about: 'Which protocols carry the traffic',
        needs: ['VIEW_STATISTICS_OVERVIEW'],
        query: `query UsageByProtocol($from: DateTime, $to: DateTime) {
  company {
    usage(start: $from, end: $to) {
      breakdown(by: PROTOCOL, first: 20) {
        value
        mobileTerminated
        mobileOriginated
      }
    }
  }
}
`,
        variables: (timeZone) => lastDays(30, timeZone),
      },
      {
        name: 'Usage by group',
        about: 'Which groups use the most; try OPERATOR, TARIFF or TAG',
        needs: ['VIEW_STATISTICS_OVERVIEW'],
        query: `query UsageByDimension($from: DateTime, $to: DateTime, $by: UsageDimension! = GROUP) {
  company {
    usage(start: $from, end: $to) {
      breakdown(by: $by, first: 25) {
        label
        mobileTerminated
        mobileOriginated
      }
    }
  }
}
`,
        variables: (timeZone) => ({ ...lastDays(30, timeZone), by: 'GROUP' }),
      },
      {
        name: 'Usage by source',
        about: 'The shares of carriers, of at most 31 days',
        needs: ['VIEW_STATISTICS_OVERVIEW'],
        query: `query UsageBySource($from: DateTime, $to: DateTime) {
  company {
    usage(start: $from, end: $to) {
      breakdown(by: SOURCE, first: 25) {
        value
        mobileTerminated
        mobileOriginated
      }
    }
  }
}
`,
        variables: (timeZone) => lastDays(7, timeZone),
      },
      {
        name: 'This period against the last',
        about: 'Both totals side by side',
        needs: ['VIEW_STATISTICS_OVERVIEW'],
        query: `query PeriodComparison {
  company {
    usage {
      thisPeriod: totals {
        mobileTerminated
        mobileOriginated
      }
      previous {
        lastPeriod: totals {
          mobileTerminated
          mobileOriginated
        }
      }
    }
  }
}
`,
        variables: none,
      },
    ],
  },
  {
    name: 'Alerts',
    examples: [
      {
        name: 'Alerts close to firing',
        about: 'Usage in percent of the upper threshold',
        needs: ['VIEW_MONITORING_ALERTS', 'VIEW_A_USERS_DETAILS', 'VIEW_SUBSCRIBER'],
        query: `query CloseToFiring {
  alerts(first: 50, filter: {kind: {eq: VOLUME}}) {
    nodes {
      alertId
      name
      ruleType
      ... on VolumeAlert {
        subjects(limit: 3) {
          subscriber {
            nickname
            physicalId
          }
          group {
            name
          }
          upper {
            percent
            threshold
            status
          }
          usage
        }
      }
    }
  }
}
`,
        variables: none,
      },
      {
        name: 'Alert log',
        about: 'What fired lately, and what is over',
        needs: ['VIEW_MONITORING_ALERTS', 'VIEW_SUBSCRIBER'],
        query: `query AlertLog {
  alertLog(first: 50) {
    nodes {
      createdAt
      kind
      state
      text
      ... on VolumeLogEntry {
        limitBoundary
        threshold
        usage
      }
      subscriber {
        nickname
        physicalId
      }
    }
  }
}
`,
        variables: none,
      },
    ],
  },
  {
    name: 'Live',
    examples: [
      {
        name: 'Usage as it is booked',
        about: 'Bytes by subscriber, live',
        needs: ['VIEW_STATISTICS_OVERVIEW', 'VIEW_SUBSCRIBER'],
        query: `subscription UsageRecorded {
  usageRecorded {
    subscriber {
      physicalId
    }
    bytes
  }
}
`,
        variables: none,
      },
      {
        name: 'Alerts as they fire',
        about: 'Each log entry at the moment it is made',
        needs: ['VIEW_MONITORING_ALERTS', 'VIEW_SUBSCRIBER'],
        query: `subscription AlertTriggered {
  alertTriggered {
    createdAt
    kind
    state
    text
    ... on VolumeLogEntry {
      limitBoundary
      threshold
      usage
    }
    subscriber {
      nickname
      physicalId
    }
  }
}
`,
        variables: none,
      },
    ],
  },
];

/** What the editor shows on the first visit. */
export const first = groups[0]!.examples[0]!.query;
