//! Tell the information criteria of draws.

use posteria::assess::Information;
use serde::Serialize;

use crate::text::short;

/// Information criteria of draws.
#[derive(Serialize)]
pub struct InformationCriteria {
    /// Deviance information criterion: a deviance, smaller is better.
    dic: f64,
    p_dic: f64,
    dic_focus: &'static str,
    /// On the log scale, as ArviZ has it.
    waic: f64,
    p_waic: f64,
    se_waic: f64,
}

impl InformationCriteria {
    /// Of what was found.
    pub fn new(found: &Information) -> Self {
        let Information { waic, p_waic, dic, focus, .. } = found;
        InformationCriteria {
            dic: -2.0 * dic.dic,
            p_dic: dic.p_dic,
            dic_focus: focus,
            waic: waic.total,
            p_waic: p_waic.total,
            se_waic: waic.se,
        }
    }

    /// As a line of text.
    pub fn render(&self) -> String {
        format!(
            "WAIC {} ({} parameters), DIC {} as a deviance ({} parameters)",
            short(self.waic),
            short(self.p_waic),
            short(self.dic),
            short(self.p_dic)
        )
    }
}
