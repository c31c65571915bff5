//! Tell the information criteria of draws.

use serde::{Deserialize, Serialize};

use crate::assess::Information;

/// Information criteria of draws.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct InformationCriteria {
    /// Deviance information criterion: a deviance, smaller is better.
    #[serde(deserialize_with = "crate::json::nan")]
    pub dic: f64,
    /// Its number of parameters.
    #[serde(deserialize_with = "crate::json::nan")]
    pub p_dic: f64,
    /// What is averaged for it.
    pub dic_focus: String,
    /// That of Watanabe, on the log scale, as ArviZ has it.
    #[serde(deserialize_with = "crate::json::nan")]
    pub waic: f64,
    /// Its number of parameters.
    #[serde(deserialize_with = "crate::json::nan")]
    pub p_waic: f64,
    /// Its standard error over rows.
    #[serde(deserialize_with = "crate::json::nan")]
    pub se_waic: f64,
}

impl InformationCriteria {
    /// Of what was found.
    pub(super) fn new(found: &Information) -> Self {
        let Information { waic, p_waic, dic, focus, .. } = found;
        InformationCriteria {
            dic: -2.0 * dic.dic,
            p_dic: dic.p_dic,
            dic_focus: (*focus).into(),
            waic: waic.total,
            p_waic: p_waic.total,
            se_waic: waic.se,
        }
    }
}
