/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';
/** One of the two thresholds of an alert. */
export type AlertBoundary =
  /** The lower threshold. */
  | 'LOWER'
  /** The upper threshold. */
  | 'UPPER';

/** Conditions on a value of AlertBoundary. */
export type AlertBoundaryFilter = {
  /** Is this one. */
  eq?: AlertBoundary | null | undefined;
  /** Is one of these; never true for an empty list. */
  in?: Array<AlertBoundary> | null | undefined;
  /** Is not this one. */
  ne?: AlertBoundary | null | undefined;
  /** Is none of these; true for an empty list. */
  notIn?: Array<AlertBoundary> | null | undefined;
};

/** Which alerts are wanted. All conditions must hold; none wants everything. */
export type AlertFilter = {
  /** The identifier of the alert, of one series for all kinds. */
  alertId?: IntFilter | null | undefined;
  /** All of these; true for an empty list. Here and in or and not, each object needs a condition. */
  and?: Array<AlertFilter> | null | undefined;
  /** When it was made. */
  createdAt?: DateTimeFilter | null | undefined;
  /** What it notices. */
  kind?: AlertKindFilter | null | undefined;
  /** The lower threshold in bytes; null for kinds other than VOLUME. */
  lowerThreshold?: IntFilter | null | undefined;
  /** What people call it; null for none. */
  name?: StringFilter | null | undefined;
  /** Not this. */
  not?: AlertFilter | null | undefined;
  /** Any of these; never true for an empty list. */
  or?: Array<AlertFilter> | null | undefined;
  /** What it watches, and whose usage triggers it. */
  ruleType?: AlertRuleTypeFilter | null | undefined;
  /** The subscriberId of a SIM, the groupId of a group; none for the company. */
  target?: StringFilter | null | undefined;
  /** The upper threshold in bytes; null for kinds other than VOLUME. */
  upperThreshold?: IntFilter | null | undefined;
};

/** What alerts notice. */
export type AlertKind =
  /** A value that any report of a session has became another, and none of the last four. The first value is no change. */
  | 'CHANGE'
  /**
   * Usage will exceed a number of bytes by the end of the billing period: what was used, and for each day to come the median of that weekday in the last
   * four weeks. It needs three weeks of history, and fires once in a period. A turn forecasts 2,000 subscribers, so large fleets take a while.
   */
  | 'FORECAST'
  /**
   * Neither usage nor a session for a number of hours, of subscribers that are active, not barred, not terminated and, as profiles, enabled;
   * one that was never seen counts from its connection. It fires only where the source of the subject has reported that long, and resolves when the subject is seen again.
   */
  | 'SILENT'
  /** A network element, or a source of usage as a whole, has reported nothing for 6 hours, a source without network elements for 48, or for as long as the shortest silence that is watched. It is noticed without any alert; one of this kind shortens the time. The log names no alert for it. */
  | 'SOURCE_SILENT'
  /** More sessions than a number began within an hour of the clock (UTC), of today or yesterday. */
  | 'STORM'
  /** Usage above a threshold in a billing period. */
  | 'VOLUME';

/** Conditions on a value of AlertKind. */
export type AlertKindFilter = {
  /** Is this one. */
  eq?: AlertKind | null | undefined;
  /** Is one of these; never true for an empty list. */
  in?: Array<AlertKind> | null | undefined;
  /** Is not this one. */
  ne?: AlertKind | null | undefined;
  /** Is none of these; true for an empty list. */
  notIn?: Array<AlertKind> | null | undefined;
};

/** What an entry of the alert log reports. */
export type AlertLogEntryState =
  /** It began, or happened. */
  | 'FIRED'
  /** It is over. */
  | 'RESOLVED';

/** Conditions on a value of AlertLogEntryState. */
export type AlertLogEntryStateFilter = {
  /** Is this one. */
  eq?: AlertLogEntryState | null | undefined;
  /** Is one of these; never true for an empty list. */
  in?: Array<AlertLogEntryState> | null | undefined;
  /** Is not this one. */
  ne?: AlertLogEntryState | null | undefined;
  /** Is none of these; true for an empty list. */
  notIn?: Array<AlertLogEntryState> | null | undefined;
};

/** Which entries of the alert log are wanted. All conditions must hold; none wants everything. */
export type AlertLogFilter = {
  /** The identifier of the alert; 0 of sources. */
  alertId?: IntFilter | null | undefined;
  /** All of these; true for an empty list. Here and in or and not, each object needs a condition. */
  and?: Array<AlertLogFilter> | null | undefined;
  /** When the entry was made. */
  createdAt?: DateTimeFilter | null | undefined;
  /** The identifier of the entry: one series for alerts on volume, another for alerts on conditions. */
  entryId?: IntFilter | null | undefined;
  /** Whether the period was over when the usage came in; null for kinds other than VOLUME. */
  isLate?: BooleanFilter | null | undefined;
  /** Whether it lasts: a silence that is not over. */
  isOpen?: BooleanFilter | null | undefined;
  /** What it noticed. */
  kind?: AlertKindFilter | null | undefined;
  /** The threshold that was exceeded. */
  limitBoundary?: AlertBoundaryFilter | null | undefined;
  /** Not this. */
  not?: AlertLogFilter | null | undefined;
  /** Any of these; never true for an empty list. */
  or?: Array<AlertLogFilter> | null | undefined;
  /** The subscriber: its ICCID, device EUI or IMEI. */
  physicalId?: StringFilter | null | undefined;
  /** What the alert watches. */
  ruleType?: AlertRuleTypeFilter | null | undefined;
  /** Whether that happened or began, or is over. */
  state?: AlertLogEntryStateFilter | null | undefined;
  /** The target of the alert at that time: the subscriberId of a SIM, the groupId of a group; none for the company. */
  target?: StringFilter | null | undefined;
  /** The threshold in bytes; null for kinds other than VOLUME. */
  threshold?: IntFilter | null | undefined;
  /** Usage in bytes; null for kinds other than VOLUME. */
  usage?: IntFilter | null | undefined;
};

/** What an alert watches, and whose usage triggers it. */
export type AlertRuleType =
  /** Each subscriber of the company. */
  | 'COMPANY'
  /** Each subscriber that is in a group now. */
  | 'GROUPFPTP'
  /** The combined usage of a group, by the group that subscribers were in at the time of usage. */
  | 'GROUPPR'
  /** One subscriber. */
  | 'SIM';

/** Conditions on a value of AlertRuleType. */
export type AlertRuleTypeFilter = {
  /** Is this one. */
  eq?: AlertRuleType | null | undefined;
  /** Is one of these; never true for an empty list. */
  in?: Array<AlertRuleType> | null | undefined;
  /** Is not this one. */
  ne?: AlertRuleType | null | undefined;
  /** Is none of these; true for an empty list. */
  notIn?: Array<AlertRuleType> | null | undefined;
};

/** Whether an alert has fired. */
export type AlertStatus =
  /** It has not fired: it does when what it notices happens. */
  | 'ARMED'
  /** It has fired. On volume it does not again before the next billing period or another threshold, also where the usage belongs to another group by now. */
  | 'FIRED';

/** Which tag to put on which subscribers. */
export type AttachTagInput = {
  /** 1 to 1,000 subscribers. */
  physicalIds: Array<string>;
  /** Why, in one line of at most 500 characters. The audit log keeps it with what changes. */
  reason?: string | null | undefined;
  /** The name of the tag: 1 to 255 characters, no control characters, no blank at either end. */
  tagName: string;
};

/** Conditions on a boolean. */
export type BooleanFilter = {
  /** Equal; null finds what has no value. */
  eq?: boolean | null | undefined;
  /** Not equal, true also for what has no value. */
  ne?: boolean | null | undefined;
};

/** Which silence to make. */
export type CreateSilenceInput = {
  /** When it ends, at most 366 days after its begin. */
  endsAt: string;
  /** Why, for people. */
  reason: string;
  /** What it silences. */
  scope: SilenceScopeInput;
  /** When it begins; now when missing or in the past. */
  startsAt?: string | null | undefined;
  /** In which parts of each week it silences; from its begin to its end when missing. */
  times?: SilenceTimesInput | null | undefined;
};

/** Conditions on a point in time. */
export type DateTimeFilter = {
  /** Equal; null finds what has no value. */
  eq?: string | null | undefined;
  /** Later or equal. */
  ge?: string | null | undefined;
  /** Later. */
  gt?: string | null | undefined;
  /** Earlier or equal. */
  le?: string | null | undefined;
  /** Earlier. */
  lt?: string | null | undefined;
  /** Not equal, true also for what has no value. */
  ne?: string | null | undefined;
};

/** Which tag to take off which subscribers. */
export type DetachTagInput = {
  /** 1 to 1,000 subscribers. */
  physicalIds: Array<string>;
  /** Why, in one line of at most 500 characters. The audit log keeps it with what changes. */
  reason?: string | null | undefined;
  /** The name of the tag. */
  tagName: string;
};

/** Which subscriber to edit, and what changes. Null removes what can be missing, and is refused elsewhere. */
export type EditSubscriberInput = {
  /** The start of its contract. FORBIDDEN for users of groups. */
  connectionDate?: string | null | undefined;
  /** The length of its contract in months. FORBIDDEN where the caller's group hides tariff details. */
  contractLength?: number | null | undefined;
  /** The circuit switched data number; null for none. FORBIDDEN for users of groups. */
  dataNumber?: string | null | undefined;
  /** The EID of an eUICC; null for none. */
  eid?: string | null | undefined;
  /** The version that the edit was made from. Where somebody else has changed it since, the edit is refused with STALE. When missing, any version is edited. */
  expectedVersion?: string | null | undefined;
  /** The end of its contract, not before its start. */
  expiryDate?: string | null | undefined;
  /** The fixed IP address, as in CreateSubscriberInput; null for none. FORBIDDEN for users of groups. */
  fixedIpAddress?: string | null | undefined;
  /** The IMSI; empty for what has none. FORBIDDEN for users of groups, as the numbers decide whose usage is reported. */
  imsi?: string | null | undefined;
  /** Whether it is active. */
  isActive?: boolean | null | undefined;
  /** How it reaches the network. */
  kind?: SubscriberKind | null | undefined;
  /** The new nickname, 0 to 256 characters. */
  nickname?: string | null | undefined;
  /** The code of an operator of the service. */
  operatorCode?: string | null | undefined;
  /** The eUICC that it is a profile on; null for none. FORBIDDEN for users of groups. */
  parent?: ParentInput | null | undefined;
  /** ICCID, device EUI or IMEI; it does not change. */
  physicalId: string;
  /** Why, in one line of at most 500 characters. The audit log keeps it with what changes. */
  reason?: string | null | undefined;
  /** The SM-DP+ provider of an eUICC or eSIM profile; null for none. */
  smdpProvider?: string | null | undefined;
  /** MSISDN, device EUI or subscription ID. FORBIDDEN for users of groups. */
  subscriberId?: string | null | undefined;
  /** Whether it is a physical SIM or device or a virtual profile. */
  subscriberType?: SubscriberType | null | undefined;
  /** The name of a tariff of the company. FORBIDDEN where the caller's group hides tariff details. */
  tariffName?: string | null | undefined;
  /** When its contract was terminated; null while it runs. */
  terminateDate?: string | null | undefined;
};

/** Which silence to end. */
export type EndSilenceInput = {
  /** The identifier of the silence. */
  silenceId: number;
};

/** Which groups are wanted. All conditions must hold; none wants everything. */
export type GroupFilter = {
  /** All of these; true for an empty list. Here and in or and not, each object needs a condition. */
  and?: Array<GroupFilter> | null | undefined;
  /** The identifier of the group within the company. */
  groupId?: IntFilter | null | undefined;
  /** Whether users in the group cannot see billing information about its subscribers. */
  isTariffHidden?: BooleanFilter | null | undefined;
  /** The name. */
  name?: StringFilter | null | undefined;
  /** Not this. */
  not?: GroupFilter | null | undefined;
  /** Any of these; never true for an empty list. */
  or?: Array<GroupFilter> | null | undefined;
};

/** Conditions on an integer. */
export type IntFilter = {
  /** Equal; null finds what has no value. */
  eq?: string | number | null | undefined;
  /** Greater or equal. */
  ge?: string | number | null | undefined;
  /** Greater. */
  gt?: string | number | null | undefined;
  /** One of these; never true for an empty list. */
  in?: Array<string | number> | null | undefined;
  /** Less or equal. */
  le?: string | number | null | undefined;
  /** Less. */
  lt?: string | number | null | undefined;
  /** Not equal, true also for what has no value. */
  ne?: string | number | null | undefined;
};

/** Conditions on what the network sees. */
export type NetworkStateFilter = {
  /** Online or not. */
  isOnline?: BooleanFilter | null | undefined;
  /** Transferring or not. */
  isTransferring?: BooleanFilter | null | undefined;
};

/** The direction of an order. Null is the lowest value. */
export type OrderDirection =
  /** From the lowest to the highest. */
  | 'ASC'
  /** From the highest to the lowest. */
  | 'DESC';

/** Conditions on the eUICC of a profile. */
export type ParentFilter = {
  /** Whether the profile is the enabled one. */
  isEnabledOnParent?: BooleanFilter | null | undefined;
  /** Its physical id. */
  physicalId?: StringFilter | null | undefined;
};

/** Where a profile is attached. */
export type ParentInput = {
  /** Whether the profile is the one that is enabled on it. */
  isEnabledOnParent: boolean;
  /** The physical id of the eUICC, which is no profile itself. */
  physicalId: string;
};

/** A right of a user account. OAuth scopes are written the same. */
export type Permission =
  /** Add Monitoring Alerts */
  | 'ADD_MONITORING_ALERTS'
  /** Delete Monitoring Alerts */
  | 'DELETE_MONITORING_ALERTS'
  /** Edit Monitoring Alerts */
  | 'EDIT_MONITORING_ALERTS'
  /** Manage Access Keys */
  | 'MANAGE_ACCESS_KEYS'
  /** Manage Inventory */
  | 'MANAGE_INVENTORY'
  /** Record Usage */
  | 'RECORD_USAGE'
  /** Update the Details of a Subscriber */
  | 'UPDATE_THE_DETAILS_OF_A_SUBSCRIBER'
  /** View a User's Details */
  | 'VIEW_A_USERS_DETAILS'
  /** View Monitoring Alerts */
  | 'VIEW_MONITORING_ALERTS'
  /** View Statistics Overview */
  | 'VIEW_STATISTICS_OVERVIEW'
  /** View Subscriber */
  | 'VIEW_SUBSCRIBER';

/** Conditions on the profiles that are attached to an eUICC, as far as the caller sees them. */
export type ProfilesFilter = {
  /** Their physical ids. */
  physicalId?: SetFilter | null | undefined;
};

/** Usage to record. */
export type RecordUsageInput = {
  /** 1 to 1,000 records. */
  records: Array<UsageRecordInput>;
};

/** Conditions on related subscribers. */
export type RelatedItemsFilter = {
  /** Conditions on the eUICC of a profile. */
  parent?: ParentFilter | null | undefined;
  /** Conditions on the profiles that are attached to an eUICC. */
  profiles?: ProfilesFilter | null | undefined;
};

/** Conditions on a set of texts. */
export type SetFilter = {
  /** Has this one. */
  eq?: string | null | undefined;
  /** Has one of these; never true for an empty list. */
  in?: Array<string> | null | undefined;
  /** Has not this one. */
  ne?: string | null | undefined;
};

/** Which silences are wanted. All conditions must hold; none wants everything. */
export type SilenceFilter = {
  /** All of these; true for an empty list. Here and in or and not, each object needs a condition. */
  and?: Array<SilenceFilter> | null | undefined;
  /** When it was made. */
  createdAt?: DateTimeFilter | null | undefined;
  /** Who made it; null for the program itself. */
  createdBy?: StringFilter | null | undefined;
  /** When it ends. */
  endsAt?: DateTimeFilter | null | undefined;
  /** Whether it is over. */
  isEnded?: BooleanFilter | null | undefined;
  /** Not this. */
  not?: SilenceFilter | null | undefined;
  /** Any of these; never true for an empty list. */
  or?: Array<SilenceFilter> | null | undefined;
  /** Why it was made. */
  reason?: StringFilter | null | undefined;
  /** The identifier of the silence. */
  silenceId?: IntFilter | null | undefined;
  /** When it begins. */
  startsAt?: DateTimeFilter | null | undefined;
};

/** What a silence silences: every alert, or what fits all of the lists that are named. At least one must be said, and no list may be empty. */
export type SilenceScopeInput = {
  /** These alerts, of volume or on conditions, 1 to 100. */
  alertIds?: Array<number> | null | undefined;
  /** true: every alert, also SOURCE_SILENT. */
  all?: boolean | null | undefined;
  /** Alerts on these groups and on their subscribers, 1 to 100. */
  groupIds?: Array<number> | null | undefined;
  /** Alerts about these subscribers, 1 to 100: ICCID, device EUI or IMEI. */
  physicalIds?: Array<string> | null | undefined;
  /** Alerts about subscribers with one of these tags, 1 to 100. */
  tagNames?: Array<string> | null | undefined;
};

/** In which parts of each week a silence silences. */
export type SilenceTimesInput =
  {   /** true: at all times from its begin to its end. */
  all: boolean; weekly?: never; }
  |  { all?: never;   /** In these, 1 to 28. */
  weekly: Array<SilenceWindowInput>; };

/** A part of each week. */
export type SilenceWindowInput = {
  /** When it begins, as 22:00. */
  from: string;
  /** When it ends, as 06:00: on the next day where that is no later than the begin. */
  until: string;
  /** The day on which it begins. */
  weekday: Weekday;
};

/** Conditions on a text. Texts compare by code point. */
export type StringFilter = {
  /** Equal; null finds what has no value. */
  eq?: string | null | undefined;
  /** Greater or equal. */
  ge?: string | null | undefined;
  /** Greater. */
  gt?: string | null | undefined;
  /** One of these; never true for an empty list. */
  in?: Array<string> | null | undefined;
  /** Less or equal. */
  le?: string | null | undefined;
  /** Holds this text, in upper or lower case. */
  like?: string | null | undefined;
  /** Less. */
  lt?: string | null | undefined;
  /** Not equal, true also for what has no value. */
  ne?: string | null | undefined;
};

/** Which subscribers are wanted. All conditions must hold; none wants everything. */
export type SubscriberFilter = {
  /** All of these; true for an empty list. Here and in or and not, each object needs a condition. */
  and?: Array<SubscriberFilter> | null | undefined;
  /** Start of the contract. */
  connectionDate?: DateTimeFilter | null | undefined;
  /** Contract length in months. */
  contractLength?: IntFilter | null | undefined;
  /** Circuit switched data number. */
  dataNumber?: StringFilter | null | undefined;
  /** Bytes sent and received in the current billing period. */
  dataUsage?: IntFilter | null | undefined;
  /** EID. */
  eid?: StringFilter | null | undefined;
  /** End of the contract. */
  expiryDate?: DateTimeFilter | null | undefined;
  /** Fixed IP address, as it is shown. */
  fixedIpAddress?: StringFilter | null | undefined;
  /** Identifier of the group. */
  groupId?: IntFilter | null | undefined;
  /** IMSI. */
  imsi?: StringFilter | null | undefined;
  /** Active or not. */
  isActive?: BooleanFilter | null | undefined;
  /** Barred or not. */
  isBarred?: BooleanFilter | null | undefined;
  /** How it reaches the network. */
  kind?: SubscriberKindFilter | null | undefined;
  /** When it was seen last. One that was never seen is neither before nor after a time. */
  lastSeenAt?: DateTimeFilter | null | undefined;
  /** Line rental in pence. */
  lineRental?: IntFilter | null | undefined;
  /** What the network sees. */
  networkState?: NetworkStateFilter | null | undefined;
  /** Nickname. */
  nickname?: StringFilter | null | undefined;
  /** Not this. */
  not?: SubscriberFilter | null | undefined;
  /** Identifier of the operator. */
  operatorCode?: StringFilter | null | undefined;
  /** Name of the operator. */
  operatorName?: StringFilter | null | undefined;
  /** Any of these; never true for an empty list. */
  or?: Array<SubscriberFilter> | null | undefined;
  /** ICCID, device EUI or IMEI. */
  physicalId?: StringFilter | null | undefined;
  /** The eUICC of a profile, or the profiles on an eUICC. */
  related?: RelatedItemsFilter | null | undefined;
  /** SM-DP+ provider. */
  smdpProvider?: StringFilter | null | undefined;
  /** MSISDN, device EUI or subscription ID. */
  subscriberId?: StringFilter | null | undefined;
  /** Physical or virtual. */
  subscriberType?: SubscriberTypeFilter | null | undefined;
  /** Tags carried. */
  tags?: TagsFilter | null | undefined;
  /** Name of the tariff. */
  tariffName?: StringFilter | null | undefined;
  /** Termination of the contract. */
  terminateDate?: DateTimeFilter | null | undefined;
};

/** How a subscriber reaches the network. */
export type SubscriberKind =
  /** A cellular SIM or profile: ICCID and MSISDN. */
  | 'CELLULAR'
  /** A non-IP device such as LoRa: device EUI. */
  | 'NON_IP'
  /** A satellite terminal: IMEI and subscription ID. */
  | 'SATELLITE';

/** Conditions on how a subscriber reaches the network. */
export type SubscriberKindFilter = {
  /** Is this one. */
  eq?: SubscriberKind | null | undefined;
  /** Is one of these; never true for an empty list. */
  in?: Array<SubscriberKind> | null | undefined;
  /** Is not this one. */
  ne?: SubscriberKind | null | undefined;
  /** Is none of these; true for an empty list. */
  notIn?: Array<SubscriberKind> | null | undefined;
};

/** One step of an order of subscribers. */
export type SubscriberOrder = {
  /** In this direction. */
  direction?: OrderDirection | null | undefined;
  /** By this field. */
  field: SubscriberOrderField;
};

/** What subscribers can be ordered by. */
export type SubscriberOrderField =
  /** Start of the contract. */
  | 'CONNECTION_DATE'
  /** Contract length. */
  | 'CONTRACT_LENGTH'
  /** Circuit switched data number. */
  | 'DATA_NUMBER'
  /** Bytes in the current billing period. */
  | 'DATA_USAGE'
  /** EID. */
  | 'EID'
  /** End of the contract. */
  | 'EXPIRY_DATE'
  /** Fixed IP address, as a text. */
  | 'FIXED_IP_ADDRESS'
  /** Identifier of the group. */
  | 'GROUP_ID'
  /** IMSI. */
  | 'IMSI'
  /** Active or not. */
  | 'IS_ACTIVE'
  /** Barred or not. */
  | 'IS_BARRED'
  /** cellular, non-ip or satellite. */
  | 'KIND'
  /** When it was seen last. */
  | 'LAST_SEEN_AT'
  /** Line rental. */
  | 'LINE_RENTAL'
  /** Online or not. */
  | 'NETWORK_STATE_IS_ONLINE'
  /** Transferring or not. */
  | 'NETWORK_STATE_IS_TRANSFERRING'
  /** Nickname. */
  | 'NICKNAME'
  /** Identifier of the operator. */
  | 'OPERATOR_CODE'
  /** Name of the operator. */
  | 'OPERATOR_NAME'
  /** ICCID, device EUI or IMEI. */
  | 'PHYSICAL_ID'
  /** Enabled on the eUICC or not. */
  | 'RELATED_PARENT_IS_ENABLED_ON_PARENT'
  /** Physical id of the eUICC. */
  | 'RELATED_PARENT_PHYSICAL_ID'
  /** SM-DP+ provider. */
  | 'SMDP_PROVIDER'
  /** MSISDN, device EUI or subscription ID. */
  | 'SUBSCRIBER_ID'
  /** Physical or virtual. */
  | 'SUBSCRIBER_TYPE'
  /** Name of the tariff. */
  | 'TARIFF_NAME'
  /** Termination of the contract. */
  | 'TERMINATE_DATE';

/** Whether a subscriber can be touched. */
export type SubscriberType =
  /** A SIM or device. */
  | 'PHYSICAL'
  /** A profile on an eUICC. */
  | 'VIRTUAL';

/** Conditions on whether a subscriber is physical. */
export type SubscriberTypeFilter = {
  /** Is this one. */
  eq?: SubscriberType | null | undefined;
  /** Is one of these; never true for an empty list. */
  in?: Array<SubscriberType> | null | undefined;
  /** Is not this one. */
  ne?: SubscriberType | null | undefined;
  /** Is none of these; true for an empty list. */
  notIn?: Array<SubscriberType> | null | undefined;
};

/** Which tags are wanted. All conditions must hold; none wants everything. */
export type TagFilter = {
  /** All of these; true for an empty list. Here and in or and not, each object needs a condition. */
  and?: Array<TagFilter> | null | undefined;
  /** The name. */
  name?: StringFilter | null | undefined;
  /** Not this. */
  not?: TagFilter | null | undefined;
  /** Any of these; never true for an empty list. */
  or?: Array<TagFilter> | null | undefined;
};

/** Conditions on the tags of a subscriber. */
export type TagsFilter = {
  /** Has this tag. */
  eq?: string | null | undefined;
  /** Has one of these tags; never true for an empty list. */
  in?: Array<string> | null | undefined;
  /** Has not this tag. */
  ne?: string | null | undefined;
};

/** What the bytes of a usage record count. */
export type UsageCounters =
  /**
   * Bytes since the session began: booked is what is above the highest that was reported
   * of the session. Records that are late, lost or repeated do not change the sum; one
   * that adds nothing is a DUPLICATE.
   */
  | 'CUMULATIVE'
  /** Bytes since the last record: all are booked. */
  | 'DELTA';

/** What a usage record means for its session. */
export type UsageEvent =
  /** The session began. */
  | 'START'
  /** It ended. */
  | 'STOP'
  /** It goes on. */
  | 'UPDATE';

/** The length of a step of a series. */
export type UsageInterval =
  /** Days of the time zone. */
  | 'DAY'
  /** Whole UTC hours. */
  | 'HOUR'
  /** Calendar months of the time zone. */
  | 'MONTH'
  /** Weeks of the time zone, from Monday on. */
  | 'WEEK';

/** What a network element reports of a session, since its last report or since the session began. */
export type UsageRecordInput = {
  /** The access point. */
  apn?: string | null | undefined;
  /** Why the session ended. */
  cause?: string | null | undefined;
  /** What the bytes count. */
  counters?: UsageCounters;
  /** When it ended, at most 10 minutes from now; of a cumulative record, when the bytes were counted. */
  endedAt: string;
  /** What the record means for its session. A subscriber is online from START or UPDATE until STOP, or until nothing is reported for three intervals. */
  event?: UsageEvent | null | undefined;
  /** The IMEI of the device, 14 to 16 digits. */
  imei?: string | null | undefined;
  /** The IMSI: up to 15 digits. Of several subscribers that have it, the active and newest one is meant. */
  imsi?: string | null | undefined;
  /** The IP address of the subscriber; missing for what has none. */
  ipAddress?: string | null | undefined;
  /** Bytes sent, see counters. */
  mobileOriginated: string | number;
  /** Bytes received, see counters. */
  mobileTerminated: string | number;
  /** The number in international form, with or without + or 00: the subscriberId of cellular subscribers. */
  msisdn?: string | null | undefined;
  /** The network element below the source. A source that reports events without one is a network element itself. */
  nas?: string | null | undefined;
  /** ICCID, device EUI or IMEI. One of physicalId, imsi, msisdn and subscriberId is needed; a record whose names are of different subscribers is REJECTED. */
  physicalId?: string | null | undefined;
  /** The network protocol, such as TCP; IP when missing. */
  protocol?: string | null | undefined;
  /** The radio access, such as EUTRAN. */
  ratType?: string | null | undefined;
  /** Unique for the source; equal records are one when it is missing. Cumulative records need none. */
  recordId?: string | null | undefined;
  /** The number of the record in its session; 0 is the first. */
  sequence?: number;
  /** The session, unique for the subscriber; missing outside of sessions. A cumulative record needs it, and one with a field of its session. */
  sessionId?: string | null | undefined;
  /** The network element that reports, 1 to 128 characters. */
  source: string;
  /** When the usage started; of a cumulative record, when the session began. */
  startedAt: string;
  /** The subscriberId as the inventory has it. */
  subscriberId?: string | null | undefined;
  /** MCC and MNC of the network that serves the device, such as 23415. */
  visitedNetwork?: string | null | undefined;
};

/** What became of a usage record. */
export type UsageStatus =
  /** It is in the ledger and in all totals. */
  | 'ACCEPTED'
  /** Another record has the same id; it is not kept. */
  | 'CONFLICT'
  /** The same record was there before; nothing changed. */
  | 'DUPLICATE'
  /** The subscriber is not known: it is kept, and counts when that appears. */
  | 'QUARANTINED'
  /** It breaks a rule; it is not kept. */
  | 'REJECTED';

/** A day of the week. */
export type Weekday =
  /** Friday. */
  | 'FRIDAY'
  /** Monday. */
  | 'MONDAY'
  /** Saturday. */
  | 'SATURDAY'
  /** Sunday. */
  | 'SUNDAY'
  /** Thursday. */
  | 'THURSDAY'
  /** Tuesday. */
  | 'TUESDAY'
  /** Wednesday. */
  | 'WEDNESDAY';

export type ReadViewerQueryVariables = Exact<{ [key: string]: never; }>;


export type ReadViewerQuery = { viewer: { email: string, permissions: Array<Permission>, isRestricted: boolean, tokenExpiresAt: string, company: { name: string, externalId: string, timeZone: string, currentPeriod: { startsAt: string, endsAt: string } } } };

export type ListSubscribersQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  filter?: SubscriberFilter | null | undefined;
  orderBy?: Array<SubscriberOrder> | SubscriberOrder | null | undefined;
}>;


export type ListSubscribersQuery = { subscribers: { nodes: Array<{ id: string, physicalId: string, subscriberId: string, kind: SubscriberKind, nickname: string | null, imsi: string | null, isActive: boolean, isBarred: boolean, connectionDate: string, expiryDate: string, lastSeenAt: string | null, dataUsage: string | null, operatorName: string, tariffName: string | null, networkState: { isOnline: boolean, isTransferring: boolean }, group: { id: string, groupId: number, name: string } | null, tags: Array<{ id: string, name: string }> | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null };

export type FindSubscriberQueryVariables = Exact<{
  physicalId: string;
}>;


export type FindSubscriberQuery = { subscriber: { id: string, physicalId: string, subscriberId: string, kind: SubscriberKind, nickname: string | null, imsi: string | null, isActive: boolean, isBarred: boolean, connectionDate: string, expiryDate: string, lastSeenAt: string | null, dataUsage: string | null, operatorName: string, tariffName: string | null, networkState: { isOnline: boolean, isTransferring: boolean }, group: { id: string, groupId: number, name: string } | null, tags: Array<{ id: string, name: string }> | null } | null };

export type ReadSubscriberUsageQueryVariables = Exact<{
  physicalId: string;
  start?: string | null | undefined;
  end?: string | null | undefined;
  interval: UsageInterval;
}>;


export type ReadSubscriberUsageQuery = { subscriber: { usage: { dataCompleteUntil: string | null, period: { startsAt: string, endsAt: string }, totals: { mobileOriginated: string, mobileTerminated: string, total: string, sessions: string } | null, series: Array<{ start: string, mobileOriginated: string, mobileTerminated: string, total: string, sessions: string }> | null } | null } | null };

export type ReadCompanyUsageQueryVariables = Exact<{
  start?: string | null | undefined;
  end?: string | null | undefined;
  interval: UsageInterval;
}>;


export type ReadCompanyUsageQuery = { company: { usage: { dataCompleteUntil: string | null, period: { startsAt: string, endsAt: string }, totals: { mobileOriginated: string, mobileTerminated: string, total: string, sessions: string } | null, series: Array<{ start: string, mobileOriginated: string, mobileTerminated: string, total: string, sessions: string }> | null } | null } };

export type ListGroupsQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  filter?: GroupFilter | null | undefined;
}>;


export type ListGroupsQuery = { groups: { nodes: Array<{ id: string, groupId: number, name: string }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null };

export type ListTagsQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  filter?: TagFilter | null | undefined;
}>;


export type ListTagsQuery = { tags: { nodes: Array<{ id: string, name: string }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null };

export type ListAlertsQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  filter?: AlertFilter | null | undefined;
}>;


export type ListAlertsQuery = { alerts: { nodes: Array<
      | { id: string, alertId: number, name: string | null, kind: AlertKind, ruleType: AlertRuleType, target: string | null, createdAt: string, status: AlertStatus | null, numberFired: number | null }
      | { id: string, alertId: number, name: string | null, kind: AlertKind, ruleType: AlertRuleType, target: string | null, createdAt: string, status: AlertStatus | null, numberFired: number | null }
    >, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null };

export type ListAlertLogQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  filter?: AlertLogFilter | null | undefined;
}>;


export type ListAlertLogQuery = { alertLog: { nodes: Array<
      | { id: string, entryId: number, alertId: number | null, kind: AlertKind, state: AlertLogEntryState, ruleType: AlertRuleType, target: string | null, text: string, createdAt: string, resolvedAt: string | null, isNotified: boolean, isSilenced: boolean }
      | { id: string, entryId: number, alertId: number, kind: AlertKind, state: AlertLogEntryState, ruleType: AlertRuleType, target: string | null, text: string, createdAt: string, resolvedAt: string | null, isNotified: boolean, isSilenced: boolean }
    >, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null };

export type ListSilencesQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  filter?: SilenceFilter | null | undefined;
}>;


export type ListSilencesQuery = { silences: { nodes: Array<{ id: string, silenceId: number, reason: string, alertIds: Array<number>, groupIds: Array<number>, tagNames: Array<string>, physicalIds: Array<string>, startsAt: string, endsAt: string, isActive: boolean, isEnded: boolean }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } | null };

export type EditSubscriberMutationVariables = Exact<{
  input: EditSubscriberInput;
}>;


export type EditSubscriberMutation = { editSubscriber: { subscriber: { id: string, physicalId: string, subscriberId: string, kind: SubscriberKind, nickname: string | null, imsi: string | null, isActive: boolean, isBarred: boolean, connectionDate: string, expiryDate: string, lastSeenAt: string | null, dataUsage: string | null, operatorName: string, tariffName: string | null, networkState: { isOnline: boolean, isTransferring: boolean }, group: { id: string, groupId: number, name: string } | null, tags: Array<{ id: string, name: string }> | null } } | null };

export type AttachTagMutationVariables = Exact<{
  input: AttachTagInput;
}>;


export type AttachTagMutation = { attachTag: { attached: number } | null };

export type DetachTagMutationVariables = Exact<{
  input: DetachTagInput;
}>;


export type DetachTagMutation = { detachTag: { __typename: 'DetachTagPayload' } | null };

export type CreateSilenceMutationVariables = Exact<{
  input: CreateSilenceInput;
}>;


export type CreateSilenceMutation = { createSilence: { silence: { id: string, silenceId: number, reason: string, alertIds: Array<number>, groupIds: Array<number>, tagNames: Array<string>, physicalIds: Array<string>, startsAt: string, endsAt: string, isActive: boolean, isEnded: boolean } } | null };

export type EndSilenceMutationVariables = Exact<{
  input: EndSilenceInput;
}>;


export type EndSilenceMutation = { endSilence: { silence: { id: string, silenceId: number, reason: string, alertIds: Array<number>, groupIds: Array<number>, tagNames: Array<string>, physicalIds: Array<string>, startsAt: string, endsAt: string, isActive: boolean, isEnded: boolean } } | null };

export type RecordUsageMutationVariables = Exact<{
  input: RecordUsageInput;
}>;


export type RecordUsageMutation = { recordUsage: { results: Array<{ status: UsageStatus, reason: string | null, field: string | null }> } | null };

export type PageEndFragment = { hasNextPage: boolean, endCursor: string | null };

export type SubscriberFragment = { id: string, physicalId: string, subscriberId: string, kind: SubscriberKind, nickname: string | null, imsi: string | null, isActive: boolean, isBarred: boolean, connectionDate: string, expiryDate: string, lastSeenAt: string | null, dataUsage: string | null, operatorName: string, tariffName: string | null, networkState: { isOnline: boolean, isTransferring: boolean }, group: { id: string, groupId: number, name: string } | null, tags: Array<{ id: string, name: string }> | null };

export type GroupFragment = { id: string, groupId: number, name: string };

export type TagFragment = { id: string, name: string };

export type UsageFragment = { dataCompleteUntil: string | null, period: { startsAt: string, endsAt: string }, totals: { mobileOriginated: string, mobileTerminated: string, total: string, sessions: string } | null, series: Array<{ start: string, mobileOriginated: string, mobileTerminated: string, total: string, sessions: string }> | null };

type Alert_ConditionAlert_Fragment = { id: string, alertId: number, name: string | null, kind: AlertKind, ruleType: AlertRuleType, target: string | null, createdAt: string, status: AlertStatus | null, numberFired: number | null };

type Alert_VolumeAlert_Fragment = { id: string, alertId: number, name: string | null, kind: AlertKind, ruleType: AlertRuleType, target: string | null, createdAt: string, status: AlertStatus | null, numberFired: number | null };

export type AlertFragment =
  | Alert_ConditionAlert_Fragment
  | Alert_VolumeAlert_Fragment
;

type AlertLogEntry_ConditionLogEntry_Fragment = { id: string, entryId: number, alertId: number | null, kind: AlertKind, state: AlertLogEntryState, ruleType: AlertRuleType, target: string | null, text: string, createdAt: string, resolvedAt: string | null, isNotified: boolean, isSilenced: boolean };

type AlertLogEntry_VolumeLogEntry_Fragment = { id: string, entryId: number, alertId: number, kind: AlertKind, state: AlertLogEntryState, ruleType: AlertRuleType, target: string | null, text: string, createdAt: string, resolvedAt: string | null, isNotified: boolean, isSilenced: boolean };

export type AlertLogEntryFragment =
  | AlertLogEntry_ConditionLogEntry_Fragment
  | AlertLogEntry_VolumeLogEntry_Fragment
;

export type SilenceFragment = { id: string, silenceId: number, reason: string, alertIds: Array<number>, groupIds: Array<number>, tagNames: Array<string>, physicalIds: Array<string>, startsAt: string, endsAt: string, isActive: boolean, isEnded: boolean };

export type WatchUsageSubscriptionVariables = Exact<{ [key: string]: never; }>;


export type WatchUsageSubscription = { usageRecorded: { bytes: string, subscriber: { physicalId: string } } | null };

export type WatchAlertsSubscriptionVariables = Exact<{ [key: string]: never; }>;


export type WatchAlertsSubscription = { alertTriggered:
    | { id: string, entryId: number, alertId: number | null, kind: AlertKind, state: AlertLogEntryState, ruleType: AlertRuleType, target: string | null, text: string, createdAt: string, resolvedAt: string | null, isNotified: boolean, isSilenced: boolean }
    | { id: string, entryId: number, alertId: number, kind: AlertKind, state: AlertLogEntryState, ruleType: AlertRuleType, target: string | null, text: string, createdAt: string, resolvedAt: string | null, isNotified: boolean, isSilenced: boolean }
   | null };

export class TypedDocumentString<TResult, TVariables>
  extends String
  implements DocumentTypeDecoration<TResult, TVariables>
{
  __apiType?: NonNullable<DocumentTypeDecoration<TResult, TVariables>['__apiType']>;
  private value: string;
  public __meta__?: Record<string, any> | undefined;

  constructor(value: string, __meta__?: Record<string, any> | undefined) {
    super(value);
    this.value = value;
    this.__meta__ = __meta__;
  }

  override toString(): string & DocumentTypeDecoration<TResult, TVariables> {
    return this.value;
  }
}
export const PageEndFragmentDoc = new TypedDocumentString(`
    fragment PageEnd on PageInfo {
  hasNextPage
  endCursor
}
    `, {"fragmentName":"PageEnd"}) as unknown as TypedDocumentString<PageEndFragment, unknown>;
export const GroupFragmentDoc = new TypedDocumentString(`
    fragment Group on Group {
  id
  groupId
  name
}
    `, {"fragmentName":"Group"}) as unknown as TypedDocumentString<GroupFragment, unknown>;
export const TagFragmentDoc = new TypedDocumentString(`
    fragment Tag on Tag {
  id
  name
}
    `, {"fragmentName":"Tag"}) as unknown as TypedDocumentString<TagFragment, unknown>;
export const SubscriberFragmentDoc = new TypedDocumentString(`
    fragment Subscriber on Subscriber {
  id
  physicalId
  subscriberId
  kind
  nickname
  imsi
  isActive
  isBarred
  connectionDate
  expiryDate
  lastSeenAt
  dataUsage
  operatorName
  tariffName
  networkState {
    isOnline
    isTransferring
  }
  group {
    ...Group
  }
  tags {
    ...Tag
  }
}
    fragment Group on Group {
  id
  groupId
  name
}
fragment Tag on Tag {
  id
  name
}`, {"fragmentName":"Subscriber"}) as unknown as TypedDocumentString<SubscriberFragment, unknown>;
export const UsageFragmentDoc = new TypedDocumentString(`
    fragment Usage on Usage {
  period {
    startsAt
    endsAt
  }
  dataCompleteUntil
  totals {
    mobileOriginated
    mobileTerminated
    total
    sessions
  }
  series(interval: $interval) {
    start
    mobileOriginated
    mobileTerminated
    total
    sessions
  }
}
    `, {"fragmentName":"Usage"}) as unknown as TypedDocumentString<UsageFragment, unknown>;
export const AlertFragmentDoc = new TypedDocumentString(`
    fragment Alert on Alert {
  id
  alertId
  name
  kind
  ruleType
  target
  createdAt
  status
  numberFired
}
    `, {"fragmentName":"Alert"}) as unknown as TypedDocumentString<AlertFragment, unknown>;
export const AlertLogEntryFragmentDoc = new TypedDocumentString(`
    fragment AlertLogEntry on AlertLogEntry {
  id
  entryId
  alertId
  kind
  state
  ruleType
  target
  text
  createdAt
  resolvedAt
  isNotified
  isSilenced
}
    `, {"fragmentName":"AlertLogEntry"}) as unknown as TypedDocumentString<AlertLogEntryFragment, unknown>;
export const SilenceFragmentDoc = new TypedDocumentString(`
    fragment Silence on Silence {
  id
  silenceId
  reason
  alertIds
  groupIds
  tagNames
  physicalIds
  startsAt
  endsAt
  isActive
  isEnded
}
    `, {"fragmentName":"Silence"}) as unknown as TypedDocumentString<SilenceFragment, unknown>;
export const ReadViewerDocument = new TypedDocumentString(`
    query ReadViewer {
  viewer {
    email
    permissions
    isRestricted
    tokenExpiresAt
    company {
      name
      externalId
      timeZone
      currentPeriod {
        startsAt
        endsAt
      }
    }
  }
}
    `) as unknown as TypedDocumentString<ReadViewerQuery, ReadViewerQueryVariables>;
export const ListSubscribersDocument = new TypedDocumentString(`
    query ListSubscribers($first: Int, $after: String, $filter: SubscriberFilter, $orderBy: [SubscriberOrder!]) {
  subscribers(first: $first, after: $after, filter: $filter, orderBy: $orderBy) {
    nodes {
      ...Subscriber
    }
    pageInfo {
      ...PageEnd
    }
  }
}
    fragment PageEnd on PageInfo {
  hasNextPage
  endCursor
}
fragment Subscriber on Subscriber {
  id
  physicalId
  subscriberId
  kind
  nickname
  imsi
  isActive
  isBarred
  connectionDate
  expiryDate
  lastSeenAt
  dataUsage
  operatorName
  tariffName
  networkState {
    isOnline
    isTransferring
  }
  group {
    ...Group
  }
  tags {
    ...Tag
  }
}
fragment Group on Group {
  id
  groupId
  name
}
fragment Tag on Tag {
  id
  name
}`) as unknown as TypedDocumentString<ListSubscribersQuery, ListSubscribersQueryVariables>;
export const FindSubscriberDocument = new TypedDocumentString(`
    query FindSubscriber($physicalId: String!) {
  subscriber(by: {physicalId: $physicalId}) {
    ...Subscriber
  }
}
    fragment Subscriber on Subscriber {
  id
  physicalId
  subscriberId
  kind
  nickname
  imsi
  isActive
  isBarred
  connectionDate
  expiryDate
  lastSeenAt
  dataUsage
  operatorName
  tariffName
  networkState {
    isOnline
    isTransferring
  }
  group {
    ...Group
  }
  tags {
    ...Tag
  }
}
fragment Group on Group {
  id
  groupId
  name
}
fragment Tag on Tag {
  id
  name
}`) as unknown as TypedDocumentString<FindSubscriberQuery, FindSubscriberQueryVariables>;
export const ReadSubscriberUsageDocument = new TypedDocumentString(`
    query ReadSubscriberUsage($physicalId: String!, $start: DateTime, $end: DateTime, $interval: UsageInterval!) {
  subscriber(by: {physicalId: $physicalId}) {
    usage(start: $start, end: $end) {
      ...Usage
    }
  }
}
    fragment Usage on Usage {
  period {
    startsAt
    endsAt
  }
  dataCompleteUntil
  totals {
    mobileOriginated
    mobileTerminated
    total
    sessions
  }
  series(interval: $interval) {
    start
    mobileOriginated
    mobileTerminated
    total
    sessions
  }
}`) as unknown as TypedDocumentString<ReadSubscriberUsageQuery, ReadSubscriberUsageQueryVariables>;
export const ReadCompanyUsageDocument = new TypedDocumentString(`
    query ReadCompanyUsage($start: DateTime, $end: DateTime, $interval: UsageInterval!) {
  company {
    usage(start: $start, end: $end) {
      ...Usage
    }
  }
}
    fragment Usage on Usage {
  period {
    startsAt
    endsAt
  }
  dataCompleteUntil
  totals {
    mobileOriginated
    mobileTerminated
    total
    sessions
  }
  series(interval: $interval) {
    start
    mobileOriginated
    mobileTerminated
    total
    sessions
  }
}`) as unknown as TypedDocumentString<ReadCompanyUsageQuery, ReadCompanyUsageQueryVariables>;
export const ListGroupsDocument = new TypedDocumentString(`
    query ListGroups($first: Int, $after: String, $filter: GroupFilter) {
  groups(first: $first, after: $after, filter: $filter) {
    nodes {
      ...Group
    }
    pageInfo {
      ...PageEnd
    }
  }
}
    fragment PageEnd on PageInfo {
  hasNextPage
  endCursor
}
fragment Group on Group {
  id
  groupId
  name
}`) as unknown as TypedDocumentString<ListGroupsQuery, ListGroupsQueryVariables>;
export const ListTagsDocument = new TypedDocumentString(`
    query ListTags($first: Int, $after: String, $filter: TagFilter) {
  tags(first: $first, after: $after, filter: $filter) {
    nodes {
      ...Tag
    }
    pageInfo {
      ...PageEnd
    }
  }
}
    fragment PageEnd on PageInfo {
  hasNextPage
  endCursor
}
fragment Tag on Tag {
  id
  name
}`) as unknown as TypedDocumentString<ListTagsQuery, ListTagsQueryVariables>;
export const ListAlertsDocument = new TypedDocumentString(`
    query ListAlerts($first: Int, $after: String, $filter: AlertFilter) {
  alerts(first: $first, after: $after, filter: $filter) {
    nodes {
      ...Alert
    }
    pageInfo {
      ...PageEnd
    }
  }
}
    fragment PageEnd on PageInfo {
  hasNextPage
  endCursor
}
fragment Alert on Alert {
  id
  alertId
  name
  kind
  ruleType
  target
  createdAt
  status
  numberFired
}`) as unknown as TypedDocumentString<ListAlertsQuery, ListAlertsQueryVariables>;
export const ListAlertLogDocument = new TypedDocumentString(`
    query ListAlertLog($first: Int, $after: String, $filter: AlertLogFilter) {
  alertLog(first: $first, after: $after, filter: $filter) {
    nodes {
      ...AlertLogEntry
    }
    pageInfo {
      ...PageEnd
    }
  }
}
    fragment PageEnd on PageInfo {
  hasNextPage
  endCursor
}
fragment AlertLogEntry on AlertLogEntry {
  id
  entryId
  alertId
  kind
  state
  ruleType
  target
  text
  createdAt
  resolvedAt
  isNotified
  isSilenced
}`) as unknown as TypedDocumentString<ListAlertLogQuery, ListAlertLogQueryVariables>;
export const ListSilencesDocument = new TypedDocumentString(`
    query ListSilences($first: Int, $after: String, $filter: SilenceFilter) {
  silences(first: $first, after: $after, filter: $filter) {
    nodes {
      ...Silence
    }
    pageInfo {
      ...PageEnd
    }
  }
}
    fragment PageEnd on PageInfo {
  hasNextPage
  endCursor
}
fragment Silence on Silence {
  id
  silenceId
  reason
  alertIds
  groupIds
  tagNames
  physicalIds
  startsAt
  endsAt
  isActive
  isEnded
}`) as unknown as TypedDocumentString<ListSilencesQuery, ListSilencesQueryVariables>;
export const EditSubscriberDocument = new TypedDocumentString(`
    mutation EditSubscriber($input: EditSubscriberInput!) {
  editSubscriber(input: $input) {
    subscriber {
      ...Subscriber
    }
  }
}
    fragment Subscriber on Subscriber {
  id
  physicalId
  subscriberId
  kind
  nickname
  imsi
  isActive
  isBarred
  connectionDate
  expiryDate
  lastSeenAt
  dataUsage
  operatorName
  tariffName
  networkState {
    isOnline
    isTransferring
  }
  group {
    ...Group
  }
  tags {
    ...Tag
  }
}
fragment Group on Group {
  id
  groupId
  name
}
fragment Tag on Tag {
  id
  name
}`) as unknown as TypedDocumentString<EditSubscriberMutation, EditSubscriberMutationVariables>;
export const AttachTagDocument = new TypedDocumentString(`
    mutation AttachTag($input: AttachTagInput!) {
  attachTag(input: $input) {
    attached
  }
}
    `) as unknown as TypedDocumentString<AttachTagMutation, AttachTagMutationVariables>;
export const DetachTagDocument = new TypedDocumentString(`
    mutation DetachTag($input: DetachTagInput!) {
  detachTag(input: $input) {
    __typename
  }
}
    `) as unknown as TypedDocumentString<DetachTagMutation, DetachTagMutationVariables>;
export const CreateSilenceDocument = new TypedDocumentString(`
    mutation CreateSilence($input: CreateSilenceInput!) {
  createSilence(input: $input) {
    silence {
      ...Silence
    }
  }
}
    fragment Silence on Silence {
  id
  silenceId
  reason
  alertIds
  groupIds
  tagNames
  physicalIds
  startsAt
  endsAt
  isActive
  isEnded
}`) as unknown as TypedDocumentString<CreateSilenceMutation, CreateSilenceMutationVariables>;
export const EndSilenceDocument = new TypedDocumentString(`
    mutation EndSilence($input: EndSilenceInput!) {
  endSilence(input: $input) {
    silence {
      ...Silence
    }
  }
}
    fragment Silence on Silence {
  id
  silenceId
  reason
  alertIds
  groupIds
  tagNames
  physicalIds
  startsAt
  endsAt
  isActive
  isEnded
}`) as unknown as TypedDocumentString<EndSilenceMutation, EndSilenceMutationVariables>;
export const RecordUsageDocument = new TypedDocumentString(`
    mutation RecordUsage($input: RecordUsageInput!) {
  recordUsage(input: $input) {
    results {
      status
      reason
      field
    }
  }
}
    `) as unknown as TypedDocumentString<RecordUsageMutation, RecordUsageMutationVariables>;
export const WatchUsageDocument = new TypedDocumentString(`
    subscription WatchUsage {
  usageRecorded {
    subscriber {
      physicalId
    }
    bytes
  }
}
    `) as unknown as TypedDocumentString<WatchUsageSubscription, WatchUsageSubscriptionVariables>;
export const WatchAlertsDocument = new TypedDocumentString(`
    subscription WatchAlerts {
  alertTriggered {
    ...AlertLogEntry
  }
}
    fragment AlertLogEntry on AlertLogEntry {
  id
  entryId
  alertId
  kind
  state
  ruleType
  target
  text
  createdAt
  resolvedAt
  isNotified
  isSilenced
}`) as unknown as TypedDocumentString<WatchAlertsSubscription, WatchAlertsSubscriptionVariables>;